{{/*
The name of everything this release makes. No other release of the namespace has it: the release's name is in it whole,
or by its hash where that would be too long.
*/}}
{{- define "postern.fullname" -}}
{{- $own := default .Chart.Name .Values.nameOverride -}}
{{- $name := ternary $own (printf "%s-%s" .Release.Name $own) (eq .Release.Name $own) -}}
{{- $name = default $name .Values.fullnameOverride -}}
{{- if gt (len $name) 52 -}}
{{- printf "%s-%s" ($name | trunc 43 | trimSuffix "-") ($name | sha256sum | trunc 8) -}}
{{- else -}}
{{- $name -}}
{{- end -}}
{{- end -}}

{{/* What selects the pods with this Postern: one label, so that a sidecar's pod keeps the labels of its own chart. */}}
{{- define "postern.selectorLabels" -}}
postern/instance: {{ include "postern.fullname" . }}
{{- end -}}

{{/* What the network policy knows the pod of `helm test` by. */}}
{{- define "postern.testLabels" -}}
postern/test: {{ include "postern.fullname" . }}
{{- end -}}

{{- define "postern.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ .Values.nameOverride | default .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Metadata of a resource. Takes a dict: root; optional suffix, labels, annotations. */}}
{{- define "postern.metadata" -}}
name: {{ include "postern.fullname" .root }}{{ with .suffix }}-{{ . }}{{ end }}
labels:
  {{- merge (dict) (.labels | default dict) (include "postern.labels" .root | fromYaml) | toYaml | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) (.root.Values.commonAnnotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "postern.serviceAccountName" -}}
{{- if .Values.serviceAccount.name -}}
{{- .Values.serviceAccount.name -}}
{{- else if .Values.serviceAccount.create -}}
{{- include "postern.fullname" . -}}
{{- else -}}
default
{{- end -}}
{{- end -}}

{{- define "postern.image" -}}
{{- $image := .Values.image -}}
{{- $tag := default .Chart.AppVersion $image.tag -}}
{{- if $image.digest -}}
{{- printf "%s:%s@%s" $image.repository $tag $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository $tag -}}
{{- end -}}
{{- end -}}

{{/* The name of the public port, which says its protocol. */}}
{{- define "postern.publicPort" -}}
{{- if or .Values.tls.existingSecret (dig "listen" "tls" "" .Values.config) -}}https{{- else -}}http{{- end -}}
{{- end -}}

{{/* Not empty if a client has to show a certificate. */}}
{{- define "postern.requiresClientCertificate" -}}
{{- if .Values.tls.clientCa.existingSecret -}}
{{- if eq .Values.tls.clientCertificate "require" -}}yes{{- end -}}
{{- else if dig "listen" "tls" "client_ca" "" .Values.config -}}
{{- if eq (dig "listen" "tls" "client_certificate" "require" .Values.config | toString) "require" -}}yes{{- end -}}
{{- end -}}
{{- end -}}

{{/* The host that clients see. */}}
{{- define "postern.publicHost" -}}
{{- include "postern.hostOf" .Values.config.base_url -}}
{{- end -}}

{{/* That of base_url, that of the console if it has one of its own, and those of `hosts`, as a JSON array. */}}
{{- define "postern.publicHosts" -}}
{{- $hosts := list (include "postern.publicHost" .) }}
{{- $web := .Values.config.web | default dict }}
{{- $console := get (ternary $web dict (kindIs "map" $web)) "console" | default dict }}
{{- $origin := get (ternary $console dict (kindIs "map" $console)) "base_url" }}
{{- if kindIs "string" $origin }}
{{- with include "postern.hostOf" $origin }}{{ $hosts = append $hosts . }}{{ end }}
{{- end }}
{{- range .Values.config.hosts }}
{{- if include "postern.isOrigin" . }}{{ $hosts = append $hosts (include "postern.hostOf" .) }}{{ end }}
{{- end }}
{{- toJson $hosts }}
{{- end -}}

{{/* The host of an http or https address, which may be a wildcard; nothing for anything else. */}}
{{- define "postern.hostOf" -}}
{{- toString . | lower | regexFind "^https?://((\\*\\.)?[a-z0-9._-]+|\\[[0-9a-f:.]+\\])" | trimPrefix "http://" | trimPrefix "https://" -}}
{{- end -}}

{{/* "true" for an origin as `hosts` has them, its first label a wildcard or not. */}}
{{- define "postern.isOrigin" -}}
{{- if regexMatch "^https?://((\\*\\.)?[a-z0-9._-]+|\\[[0-9a-f:.]+\\])(:[0-9]+)?$" (toString .) -}}true{{- end -}}
{{- end -}}

{{/* "true" for a name that the API server takes, whole labels of letters, digits and hyphens, and for none at all. */}}
{{- define "postern.isNameOfKubernetes" -}}
{{- $label := "[a-z0-9]([-a-z0-9]*[a-z0-9])?" -}}
{{- if regexMatch (printf "^$|^(\\*\\.)?%s(\\.%s)*$" $label $label) (toString .) -}}true{{- end -}}
{{- end -}}
