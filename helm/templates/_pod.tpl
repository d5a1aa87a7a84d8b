{{/*
How many pods; with an autoscaler as many as there are now, for Helm resets a key that was in the last release and isn't in
this one, and Kubernetes then has one pod. Nothing where there is no Deployment, or none can be seen (`helm template`): a
number written there would undo the autoscaler's each time that the manifests are applied.
*/}}
{{- define "postern.replicas" -}}
{{- if .Values.autoscaling.enabled -}}
{{- with lookup "apps/v1" "Deployment" .Release.Namespace (include "postern.fullname" .) -}}
{{- int .spec.replicas -}}
{{- end -}}
{{- else -}}
{{- .Values.replicaCount -}}
{{- end -}}
{{- end -}}

{{/* Two pods can't hold an SQLite file's volume at the same time; otherwise a pod goes when its successor is ready. */}}
{{- define "postern.strategy" -}}
{{- if .Values.strategy -}}
{{- toYaml .Values.strategy -}}
{{- else if include "postern.hasFiles" . -}}
type: Recreate
{{- else -}}
type: RollingUpdate
rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
{{- end -}}
{{- end -}}

{{/* The constraints of the values, each with this release's pods where it names none. */}}
{{- define "postern.topologySpread" -}}
{{- range .Values.topologySpreadConstraints }}
- {{ merge (dict) . (dict "labelSelector" (dict "matchLabels" (include "postern.selectorLabels" $ | fromYaml))) | toYaml | nindent 2 | trim }}
{{- end -}}
{{- end -}}

{{/* The pod of this chart's own Deployment. */}}
{{- define "postern.podSpec" -}}
{{- $isSidecar := eq .Values.mode "sidecar" -}}
serviceAccountName: {{ include "postern.serviceAccountName" . | quote }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ include "postern.gracePeriodSeconds" . }}
{{- range $key := list "imagePullSecrets" "priorityClassName" "runtimeClassName" "schedulerName" "hostAliases" "dnsPolicy" "dnsConfig" "nodeSelector" "tolerations" "affinity" }}
{{- with index $.Values $key }}
{{ dict $key . | toYaml }}
{{- end }}
{{- end }}
{{- with include "postern.topologySpread" . }}
topologySpreadConstraints:
  {{- . | trim | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- $before := concat (.Values.extraInitContainers | default list) (.Values.sidecar.initContainers | default list) -}}
{{- $native := and $isSidecar .Values.sidecar.native -}}
{{- if or $before $native }}
initContainers:
  {{- with $before }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- if $native }}
  {{- include "postern.sidecar.initContainers" . | nindent 2 }}
  {{- end }}
{{- end }}
containers:
  {{- if not $native }}
  - {{ include "postern.container" . | nindent 4 | trim }}
  {{- end }}
  {{- if $isSidecar }}
  {{- include "postern.serviceContainers" . | trim | nindent 2 }}
  {{- end }}
  {{- with .Values.extraContainers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
volumes:
  {{- include "postern.volumes" . | nindent 2 }}
{{- end -}}
