output "promotion" {
  value = {
    for name in ["commit", "current", "candidate", "decision", "waiting", "skipped", "summary", "rolled_back"] :
    name => data.kalypso_promotion.this[name]
  }
}
