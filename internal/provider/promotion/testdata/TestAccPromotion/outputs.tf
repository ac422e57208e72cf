output "promotion" {
  value = {
    for name in ["commit", "current", "candidate", "decision", "waiting", "skipped", "summary", "reason",
    "proposed_commit", "rolled_back", "by", "unsettled", "unproven"] :
    name => data.kalypso_promotion.this[name]
  }
}
