{{/* The container of Postern, the same in both modes. */}}
{{- define "postern.container" -}}
name: postern
image: {{ include "postern.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
args: {{ concat (list "serve" "--config" "/etc/postern/postern.yaml") (.Values.extraArgs | default list) | toJson }}
ports:
  - { name: {{ include "postern.publicPort" . }}, containerPort: {{ int .Values.config.listen.port }}, protocol: TCP }
  - { name: management, containerPort: {{ int .Values.config.management.port }}, protocol: TCP }
{{- range include "postern.decisionPorts" . | fromYamlArray }}
  - { name: {{ .name }}, containerPort: {{ .port }}, protocol: TCP }
{{- end }}
{{- with .Values.extraEnv }}
env:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- range $probe := list "startupProbe" "livenessProbe" "readinessProbe" }}
{{- with index $.Values $probe }}
{{ $probe }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with include "postern.lifecycle" . }}
lifecycle:
  {{- . | nindent 2 }}
{{- end }}
{{- with include "postern.resources" . }}
resources:
  {{- . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .Values.securityContext | nindent 2 }}
volumeMounts:
  - { name: postern-config, mountPath: /etc/postern, readOnly: true }
  - { name: postern-tmp, mountPath: /tmp }
{{- if include "postern.hasFiles" . }}
  - { name: postern-data, mountPath: /data }
{{- end }}
{{- range $volume, $folder := include "postern.secretVolumes" . | fromYaml }}
  - { name: {{ $volume }}, mountPath: {{ $folder }}, readOnly: true }
{{- end }}
{{- if .Values.tls.existingSecret }}
  - { name: postern-tls, mountPath: /run/tls/postern, readOnly: true }
{{- end }}
{{- if .Values.tls.clientCa.existingSecret }}
  - { name: postern-client-ca, mountPath: /run/tls/postern-clients, readOnly: true }
{{- end }}
{{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The volumes that container mounts. */}}
{{- define "postern.volumes" -}}
- name: postern-config
  configMap:
    name: {{ .Values.existingConfig | default (include "postern.fullname" .) | quote }}
    items: [{ key: {{ ternary .Values.existingConfigKey "postern.yaml" (not (not .Values.existingConfig)) | quote }}, path: postern.yaml }]
- name: postern-tmp
  emptyDir: { sizeLimit: {{ .Values.tmpSizeLimit | quote }} }
{{- if include "postern.hasFiles" . }}
- name: postern-data
  {{- if .Values.persistence.enabled }}
  persistentVolumeClaim:
    claimName: {{ .Values.persistence.existingClaim | default (printf "%s-data" (include "postern.fullname" .)) | quote }}
  {{- else }}
  emptyDir: { sizeLimit: {{ .Values.persistence.size | quote }} }
  {{- end }}
{{- end }}
{{- $files := include "postern.secretFiles" . | fromYamlArray }}
{{- range $volume, $_ := include "postern.secretVolumes" . | fromYaml }}
- name: {{ $volume }}
  projected:
    defaultMode: 0440
    sources:
      {{- range $files }}
      {{- if eq .volume $volume }}
      - secret: { name: {{ quote .secret }}, items: [{ key: {{ quote .key }}, path: {{ quote .file }} }] }
      {{- end }}
      {{- end }}
{{- end }}
{{- with .Values.tls.existingSecret }}
- name: postern-tls
  secret: { secretName: {{ quote . }}, defaultMode: 0440 }
{{- end }}
{{- with .Values.tls.clientCa }}
{{- if .existingSecret }}
- name: postern-client-ca
  secret: { secretName: {{ quote .existingSecret }}, defaultMode: 0440, items: [{ key: {{ quote .key }}, path: ca.crt }] }
{{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}
