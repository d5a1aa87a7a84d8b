{{/*
For charts whose pod gets Postern as a sidecar. This chart is their dependency with `mode: sidecar`; each template takes
the scope of the dependency, as in `include "postern.sidecar.labels" .Subcharts.postern`. They belong into the pod's labels
and annotations, its initContainers and its containers (one of the two is nothing), and its volumes; postern.replicas,
postern.strategy and postern.gracePeriodSeconds are for the workload itself.
examples/kubernetes/chart is one whole.
*/}}
{{- define "postern.sidecar.labels" -}}
{{- include "postern.selectorLabels" . -}}
{{- end -}}

{{/* Checksums that roll the pods when configuration or secrets change. */}}
{{- define "postern.sidecar.annotations" -}}
{{- if .Values.rollOnChange -}}
checksum/config: {{ include "postern.configChecksum" . | quote }}
checksum/secret: {{ include "postern.secretChecksum" . | quote }}
{{- end -}}
{{- end -}}

{{/* A list with Postern as a native sidecar, or nothing when `sidecar.native` is off. */}}
{{- define "postern.sidecar.initContainers" -}}
{{- if .Values.sidecar.native -}}
- {{ include "postern.container" . | nindent 2 | trim }}
  restartPolicy: Always
{{- end -}}
{{- end -}}

{{/* A list with Postern as an ordinary container, or nothing when `sidecar.native` is on. */}}
{{- define "postern.sidecar.containers" -}}
{{- if not .Values.sidecar.native -}}
- {{ include "postern.container" . | nindent 2 | trim }}
{{- end -}}
{{- end -}}

{{- define "postern.sidecar.volumes" -}}
{{- include "postern.volumes" . -}}
{{- end -}}

{{/* A list for the service's own container: where it finds the secrets that it verifies assertions by, and no others. */}}
{{- define "postern.sidecar.volumeMounts" -}}
{{- with get (include "postern.secretVolumes" . | fromYaml) "postern-assertions" -}}
- { name: postern-assertions, mountPath: {{ . }}, readOnly: true }
{{- end -}}
{{- end -}}

{{/*
The containers of the service, each with the secrets of assertions, and going on for a moment after its pod was told to end.
*/}}
{{- define "postern.serviceContainers" -}}
{{- $sleep := .Values.sidecar.preStopSleepSeconds | int -}}
{{- $mounts := include "postern.sidecar.volumeMounts" . | fromYamlArray -}}
{{- range .Values.sidecar.containers -}}
{{- $added := dict -}}
{{- if and $sleep (not .lifecycle) -}}
{{- $added = dict "lifecycle" (dict "preStop" (dict "sleep" (dict "seconds" $sleep))) -}}
{{- end -}}
{{- $container := merge (dict) . $added -}}
{{- if $mounts -}}
{{- $container = set $container "volumeMounts" (concat (.volumeMounts | default list) $mounts) -}}
{{- end }}
- {{ $container | toYaml | nindent 2 | trim }}
{{- end -}}
{{- end -}}
