{{/* A file belongs to one pod: a second one would serve other users and keys, or wait for the volume for ever. */}}
{{- define "postern.replicaProblems" -}}
{{- $several := list -}}
{{- if gt (int .Values.replicaCount) 1 }}{{ $several = append $several (printf "replicaCount is %d" (int .Values.replicaCount)) }}{{ end -}}
{{- if .Values.autoscaling.enabled }}{{ $several = append $several "autoscaling is enabled" }}{{ end -}}
{{- if .Values.podDisruptionBudget.enabled }}{{ $several = append $several "podDisruptionBudget is enabled" }}{{ end -}}
{{- range $why := $several }}
{{- range $store := list "records" "sessions" }}
{{- if include "postern.isFile" (dict "root" $ "store" $store) }}
- {{ $why }}, but config.stores.{{ $store }} is an SQLite file (or not written out), which belongs to one pod; it must be a server's address for that.
{{- end }}
{{- end }}
{{- end }}
{{- if and (include "postern.hasFiles" .) .Values.strategy (ne (dig "type" "" .Values.strategy) "Recreate") }}
- strategy must be Recreate with an SQLite store; two pods can't hold its volume at the same time.
{{- end }}
{{- end -}}

{{- define "postern.scalingProblems" -}}
{{- $scaling := .Values.autoscaling -}}
{{- $least := int .Values.replicaCount -}}
{{- if $scaling.enabled }}
{{- $least = $scaling.minReplicas | default 1 | int }}
{{- if not (or $scaling.targetCPUUtilizationPercentage $scaling.targetMemoryUtilizationPercentage) }}
- autoscaling is enabled without a metric; give targetCPUUtilizationPercentage or targetMemoryUtilizationPercentage.
{{- end }}
{{- if not $scaling.maxReplicas }}
- autoscaling.maxReplicas is missing.
{{- else if gt $least (int $scaling.maxReplicas) }}
- autoscaling.minReplicas is {{ $least }}, more than its maxReplicas, {{ $scaling.maxReplicas }}.
{{- end }}
{{- end }}
{{- $budget := .Values.podDisruptionBudget }}
{{- if and $budget.enabled $least }}
{{- if not (kindIs "invalid" $budget.minAvailable) }}
{{- if ge (include "postern.podsOf" (dict "share" $budget.minAvailable "all" $least) | int) $least }}
- podDisruptionBudget.minAvailable is {{ $budget.minAvailable }} of {{ $least }}, all there are; no node could ever be drained.
{{- end }}
{{- else if kindIs "invalid" $budget.maxUnavailable }}
- podDisruptionBudget is enabled with neither maxUnavailable nor minAvailable.
{{- else if not (regexFind "^[0-9]+" (toString $budget.maxUnavailable) | int) }}
- podDisruptionBudget.maxUnavailable is {{ $budget.maxUnavailable }}; no node could ever be drained.
{{- end }}
{{- end }}
{{- end -}}

{{/* How many pods a number or a percentage is; Kubernetes rounds up. Takes a dict: share, all. */}}
{{- define "postern.podsOf" -}}
{{- $share := toString .share -}}
{{- if hasSuffix "%" $share -}}
{{- div (add (mul (trimSuffix "%" $share | int) .all) 99) 100 -}}
{{- else -}}
{{- $share -}}
{{- end -}}
{{- end -}}

{{- define "postern.modeProblems" -}}
{{- $isSidecar := eq .Values.mode "sidecar" -}}
{{- range $key := list "containers" "initContainers" }}
{{- if and (not $isSidecar) (index $.Values.sidecar $key) }}
- sidecar.{{ $key }} are given, but mode is gateway.
{{- end }}
{{- end }}
{{- if and $isSidecar (not .Values.sidecar.containers) }}
{{- if .Values.autoscaling.enabled }}
- autoscaling is enabled, but the workload is another chart's; scale it there.
{{- end }}
{{- if not (contains "/charts/" .Template.BasePath) }}
- sidecar.containers is missing; give the service's containers, or make this chart a dependency of the chart that has them and include its postern.sidecar templates.
{{- end }}
{{- end }}
{{- end -}}

{{/* Kubernetes refuses these, too, but half of the release is made by then. */}}
{{- define "postern.containerProblems" -}}
{{- $names := list "postern" -}}
{{- $sidecar := .Values.sidecar -}}
{{- range list $sidecar.initContainers $sidecar.containers .Values.extraInitContainers .Values.extraContainers }}
{{- range . }}
{{- with .name }}
{{- if has . $names }}
- two containers of the pod are called {{ . }}; each needs a name of its own, and postern is Postern's.
{{- end }}
{{- $names = append $names . }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* What the cluster is too old for. A version such as v1.29.1-eks-1 counts as 1.29. */}}
{{- define "postern.versionProblems" -}}
{{- $version := .Capabilities.KubeVersion.Version -}}
{{- $told := printf "This cluster is %s (helm template takes a --kube-version)." $version -}}
{{- $isSidecar := eq .Values.mode "sidecar" -}}
{{- if and $isSidecar .Values.sidecar.native (not (semverCompare ">=1.29.0-0" $version)) }}
- sidecar.native needs Kubernetes 1.29; set it to false. {{ $told }}
{{- end }}
{{- if not (semverCompare ">=1.30.0-0" $version) }}
{{- if and $isSidecar .Values.sidecar.preStopSleepSeconds (include "postern.hasLingering" .) }}
- sidecar.preStopSleepSeconds needs Kubernetes 1.30; set it to 0 and give the service's containers a lifecycle of their own. {{ $told }}
{{- end }}
{{- range $hook, $handler := .Values.lifecycle }}
{{- if hasKey ($handler | default dict) "sleep" }}
- lifecycle.{{ $hook }}.sleep needs Kubernetes 1.30; let it exec something. {{ $told }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* "true" when a container of the service has no lifecycle of its own, so that this chart lets it go on for a moment. */}}
{{- define "postern.hasLingering" -}}
{{- range .Values.sidecar.containers -}}
{{- if not .lifecycle -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{- define "postern.podProblems" -}}
{{- $grace := .Values.terminationGracePeriodSeconds -}}
{{- if and $grace (le (int $grace) (include "postern.stopSeconds" . | int)) }}
- terminationGracePeriodSeconds is {{ $grace }}, but a pod takes {{ include "postern.stopSeconds" . }} s to end (config.shutdown, and in a sidecar's pod preStopSleepSeconds and stopSeconds); it must be more.
{{- end }}
{{- $sleep := int .Values.sidecar.preStopSleepSeconds }}
{{- $delay := include "postern.seconds" .Values.config.shutdown.delay | int }}
{{- /* Of another chart's containers no more is known than that they sleep, if it isn't 0. */}}
{{- $sleeps := ternary (include "postern.hasLingering" .) (gt $sleep 0) (not (not .Values.sidecar.containers)) }}
{{- /* A native sidecar with hooks of the owner's is told when the service has ended. */}}
{{- $together := not (and .Values.sidecar.native .Values.lifecycle) }}
{{- if and (eq .Values.mode "sidecar") $together $sleeps (le $sleep $delay) }}
- sidecar.preStopSleepSeconds is {{ $sleep }}, but config.shutdown.delay is {{ .Values.config.shutdown.delay }}, in which Postern still lets requests in; the service must outlast it, by this or by a lifecycle of its own.
{{- end }}
{{- end -}}

{{/* What leads to the pods from outside, and what looks at them. */}}
{{- define "postern.outsideProblems" -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}
- httpRoute.parentRefs is missing; a route belongs to a Gateway.
{{- end }}
{{- range $kind, $hosts := dict "ingress" .Values.ingress.hosts "httpRoute" .Values.httpRoute.hostnames }}
{{- if and (index $.Values $kind "enabled") (not $hosts) (not (kindIs "string" $.Values.config.base_url)) (or $.Values.config.base_url $.Values.existingConfig) }}
- {{ $kind }} is enabled, but its host is not given and config.base_url is not written out.
{{- end }}
{{- end }}
{{- range $kind, $hosts := dict "ingress" .Values.ingress.hosts "httpRoute" .Values.httpRoute.hostnames }}
{{- if and (index $.Values $kind "enabled") (not $hosts) }}
{{- range $index, $origin := $.Values.config.hosts }}
{{- if not (kindIs "string" $origin) }}
- {{ $kind }} is enabled, but its hosts are not given and config.hosts[{{ $index }}] is not written out.
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- $own := include "postern.publicHosts" . | fromJsonArray }}
{{- range ternary (.Values.httpRoute.hostnames | default $own) list .Values.httpRoute.enabled }}
{{- if not (include "postern.isNameOfKubernetes" .) }}
- httpRoute is enabled, but {{ . }} is no name that an HTTPRoute can have; list those that it can at httpRoute.hostnames.
{{- end }}
{{- end }}
{{- if .Values.ingress.enabled }}
{{- $names := list }}
{{- range .Values.ingress.hosts }}{{ $names = append $names (.host | default "") }}{{ end }}
{{- $names = $names | default $own }}
{{- range $names }}
{{- if or (not (include "postern.isNameOfKubernetes" .)) (regexMatch "^[0-9]+(\\.[0-9]+){3}$" .) }}
- ingress is enabled, but {{ . }} is no name that an Ingress can have; list those that it can at ingress.hosts.
{{- end }}
{{- end }}
{{- range $host, $_ := .Values.ingress.tlsSecrets }}
{{- if not (has $host $names) }}
- ingress.tlsSecrets has {{ $host }}, which is no host of the ingress; its hosts are {{ join ", " $names }}.
{{- end }}
{{- end }}
{{- range $index, $entry := .Values.ingress.hosts }}
{{- if not $entry.host }}
- ingress.hosts[{{ $index }}] has no host; it would take the requests of every host.
{{- end }}
{{- end }}
{{- end }}
{{- $metrics := .Values.metrics }}
{{- if and $metrics.prometheusRule.enabled (not $metrics.serviceMonitor.enabled) (not $metrics.prometheusRule.job) }}
- metrics.prometheusRule is enabled without metrics.serviceMonitor; name the job that scrapes these pods at metrics.prometheusRule.job.
{{- end }}
{{- end -}}
