package gitbranch

import "strings"

// addTrailers adds trailers to the end of a message. They continue the block of trailers that the message ends with, as
// git commit --trailer adds them. Like Git, it leaves out a trailer that repeats the one before it.
func addTrailers(message string, trailers []string) string {
	separator := "\n\n"
	if i := trailerBlock(message); i >= 0 {
		separator = "\n"
		if last := lastTrailer(message[i:]); len(trailers) > 0 && strings.EqualFold(last, trailers[0]) {
			trailers = trailers[1:]
		}
	}
	if len(trailers) == 0 {
		return message
	}
	return message + separator + strings.Join(trailers, "\n")
}

// trailerBlock returns where the block of trailers at the end of a message starts, or -1 if there is none. The rules
// are those of git interpret-trailers --no-divider: the block is a paragraph, but not the first one, in which all lines
// are trailers, or at least a quarter if Git itself wrote one of them.
func trailerBlock(message string) int {
	end := len(message)
	var trailers, others, continuations int
	byGit := false
	for end > 0 {
		start := strings.LastIndexByte(message[:end], '\n') + 1
		line := message[start:end]
		switch {
		case strings.HasPrefix(line, "#"): // Git takes it for a comment
			others += continuations
			continuations = 0
		case strings.TrimSpace(line) == "":
			others += continuations
			if trailers == 0 || others > 0 && (!byGit || trailers*3 < others) {
				return -1
			}
			return end + 1
		case strings.HasPrefix(line, "Signed-off-by: "), strings.HasPrefix(line, "(cherry picked from commit "):
			byGit = true
			trailers++
			continuations = 0
		case isTrailer(line):
			trailers++
			continuations = 0
		case line[0] == ' ' || line[0] == '\t':
			continuations++
		default:
			others += 1 + continuations
			continuations = 0
		}
		end = start - 1
	}
	return -1 // the first paragraph is the title
}

// isTrailer reports whether Git takes a line for a trailer: a key of letters, digits and hyphens, then spaces or none,
// then a colon.
func isTrailer(line string) bool {
	key, _, found := strings.Cut(line, ":")
	return found && trailerKey.MatchString(strings.TrimRight(key, " \t"))
}

// lastTrailer returns the last trailer of a block, as key and value, on one line.
func lastTrailer(block string) string {
	last := ""
	for line := range strings.SplitSeq(block, "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
		case isTrailer(line):
			key, value, _ := strings.Cut(line, ":")
			last = strings.TrimRight(key, " \t") + ": " + strings.TrimSpace(value)
		default:
			last = ""
		}
	}
	return last
}
