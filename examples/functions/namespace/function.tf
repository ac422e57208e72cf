# dev-large-hello-world-functional-test
output "namespace" {
  value = provider::kalypso::namespace("dev", "large", "hello-world-functional-test")
}
