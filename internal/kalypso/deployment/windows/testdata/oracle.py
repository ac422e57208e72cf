#!/usr/bin/python3
"""Writes oracle.tsv.gz: random windows, each with a moment, and when it opens or closes next.

The file has a line for each of these columns, with tabs: minutes since the moment before, schedule, duration, zone,
whether it is open, and the minutes until it changes.

It needs Debian's python3-croniter and python3-dateutil. croniter parses a schedule. dateutil finds the days that match,
and the moments at which the clocks of a zone show a local time: none, one or two.
"""

import gzip
import random
from datetime import datetime, timedelta, timezone
from pathlib import Path

from croniter import croniter
from dateutil import tz
from dateutil.relativedelta import relativedelta
from dateutil.rrule import DAILY, rrule, rruleset

COUNT = 10_000
YEARS = 5
ZONES = [
    "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Chatham", "America/St_Johns",
    "Africa/Cairo", "America/Santiago", "Antarctica/Troll", "Asia/Kolkata",
]
DURATIONS = {"1m": 1, "5m": 5, "30m": 30, "45m": 45, "1h": 60, "90m": 90, "2h": 120, "4h": 240, "8h": 480, "10h": 600,
             "12h": 720, "24h": 1440, "36h": 2160, "120h": 7200, "744h": 44640}
NAMED = {
    4: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
    3: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
}
BOUNDS = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 6)]


def field(r, i):
    """Returns a random field of a schedule."""
    low, high = BOUNDS[i]
    value = lambda: r.choice([0, 15, 30, 59]) if i == 0 and r.random() < 0.7 else r.randint(low, high)
    span = lambda: sorted(r.sample(range(low, high + 1), 2))
    kind = r.random()
    if kind < 0.55:
        n = value()
        return NAMED[i][n - low] if i in NAMED and r.random() < 0.3 else str(n)
    if kind < 0.7:
        return ",".join(str(n) for n in sorted({value(), value(), value()}))
    if kind < 0.85:
        first, last = span()
        if i == 4 and (first, last) == (0, 6):  # croniter takes it for a star, which matters beside a day of the month
            last = 5
        return f"{first}-{last}"
    if kind < 0.93:
        return "*/" + str(r.randint(2, max(2, (high - low) // 2)))
    return "{}-{}/{}".format(*span(), r.randint(2, 5))


def schedule(r):
    """Returns a random schedule, which is often daily or weekly."""
    fields = [field(r, i) for i in range(5)]
    if r.random() < 0.05:
        fields[0] = "*"
    if r.random() < 0.1:
        fields[1] = "*"
    for i, star in ((2, 0.7), (3, 0.75), (4, 0.5)):
        if r.random() < star:
            fields[i] = "*"
    return " ".join(fields)


def days(fields, begin, end):
    """Returns the days from begin to end that match the fields of a schedule, as croniter expanded them."""
    def rule(**by):
        months = None if fields[3] == ["*"] else fields[3]
        return rrule(DAILY, dtstart=begin, until=end, bymonth=months, **by)

    of_month, of_week = fields[2], [(n + 6) % 7 for n in fields[4] if n != "*"]
    if fields[2] == ["*"]:
        return rule(byweekday=of_week or None)
    if fields[4] == ["*"]:
        return rule(bymonthday=of_month)
    both = rruleset()
    both.rrule(rule(bymonthday=of_month))
    both.rrule(rule(byweekday=of_week))
    return both


def openings(expression, zone, begin, end):
    """Returns the moments, as Unix minutes, at which local time from begin to end matches the expression."""
    fields, _ = croniter.expand(expression)
    minutes = range(60) if fields[0] == ["*"] else fields[0]
    hours = range(24) if fields[1] == ["*"] else fields[1]
    found = set()
    for day in days(fields, begin.replace(hour=0, minute=0), end):
        around = {zone.utcoffset(day + timedelta(days=n)) for n in (-1, 0, 1, 2)}
        utc = int((day - min(around)).replace(tzinfo=timezone.utc).timestamp()) // 60
        for hour in hours:
            for minute in minutes:
                if len(around) == 1:
                    found.add(utc + hour * 60 + minute)
                    continue
                at = day.replace(hour=hour, minute=minute, tzinfo=zone)
                if tz.datetime_exists(at):
                    for fold in (0, 1):
                        found.add(int(tz.enfold(at, fold).astimezone(timezone.utc).timestamp()) // 60)
    return sorted(found)


def state(expression, duration, zone, minute):
    """Returns whether the window is open at a Unix minute, and the minute of the next change; None: not in YEARS."""
    now = datetime.fromtimestamp(minute * 60, timezone.utc)
    limit = int((now + relativedelta(years=YEARS)).timestamp()) // 60
    local = now.astimezone(zone).replace(tzinfo=None)
    begin = local - timedelta(minutes=duration) - timedelta(days=2)
    for days in (4, 40, 400, 366 * YEARS + 4):
        is_open, until = False, None
        for at in openings(expression, zone, begin, local + timedelta(days=days)):
            if at + duration <= minute:
                continue
            if at <= minute:
                is_open, until = True, at + duration
            elif is_open and at <= until:
                until = at + duration
            elif is_open:
                break
            else:
                until = at
                break
        if until is not None and until < minute + (days - 2) * 24 * 60:
            break
    return is_open, until if until is not None and until < limit else None


def main():
    r = random.Random(61)
    rows = []
    start, span = int(datetime(2026, 1, 1, tzinfo=timezone.utc).timestamp()) // 60, 3 * 366 * 24 * 60
    while len(rows) < COUNT:
        expression, name = schedule(r), r.choice(ZONES)
        duration = r.choice(sorted(DURATIONS))
        zone, minute = tz.gettz(name), start + r.randrange(span)
        is_open, until = state(expression, DURATIONS[duration], zone, minute)
        if until is not None and r.random() < 0.4:  # a moment at a boundary
            minute = until - r.choice([0, 0, 1])
            is_open, until = state(expression, DURATIONS[duration], zone, minute)
        change = "" if until is None else str(until - minute)
        rows.append((minute, expression, duration, name, "open" if is_open else "", change))
        if len(rows) % 1000 == 0:
            print(len(rows), flush=True)
    rows.sort()
    minutes = [row[0] for row in rows]
    waits = [str(minute - before) for minute, before in zip(minutes, [start] + minutes)]
    # One line for each column: that compresses best.
    text = "".join("\t".join(column) + "\n" for column in [waits, *list(zip(*rows))[1:]])
    with gzip.GzipFile(Path(__file__).parent / "oracle.tsv.gz", "wb", compresslevel=9, mtime=0) as file:
        file.write(text.encode())


if __name__ == "__main__":
    main()
