locals {
  # The workspace of each registration in control-plane/main.
  workspaces = {
    hello-world-app = "kaizen-app-team"
    platform-svc    = "platform-team"
  }

  common      = { for f in fileset(path.module, "control-plane/main/**/*.yaml") : f => file("${path.module}/${f}") }
  environment = { for f in fileset(path.module, "control-plane/dev/**/*.yaml") : f => file("${path.module}/${f}") }

  # workloads/<registration>/…, with the label that Flux's owner label stands for in the cluster.
  documents = { for f in fileset(path.module, "workloads/*/*.yaml") : f => yamldecode(file("${path.module}/${f}")) }
  workloads = {
    for f, w in local.documents : f => yamlencode(merge(w, {
      metadata = merge(w.metadata, {
        labels = merge(try(w.metadata.labels, {}), { workspace = local.workspaces[split("/", f)[1]] })
      })
    }))
  }
}
