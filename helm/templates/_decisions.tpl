{{/* The listeners for other proxies that something outside the pod reaches, by their ports: name, port, proxies. */}}
{{- define "postern.decisionPorts" -}}
{{- $ports := list -}}
{{- range $index, $listener := .Values.config.forward_auth -}}
{{- if not (include "postern.isLoopback" ($listener.host | default "127.0.0.1")) -}}
{{- $ports = append $ports (dict "name" (printf "decisions-%d" $index) "port" (int $listener.port) "proxies" ($listener.proxies | default list)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $ports -}}
{{- end -}}
