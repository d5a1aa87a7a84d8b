{{/* Addresses at which there is no service: requests would be answered 502, or lead back to Postern for ever. */}}
{{- define "postern.upstreamProblems" -}}
{{- $config := .Values.config -}}
{{- $isSidecar := eq .Values.mode "sidecar" -}}
{{- $namespace := regexQuoteMeta .Release.Namespace -}}
{{- $ownService := printf "^%s([.]%s([.]svc([.].*)?)?)?$" (include "postern.fullname" . | regexQuoteMeta) $namespace -}}
{{- range $name, $upstream := $config.upstreams }}
{{- $url := $upstream.url | default "" | toString }}
{{- $host := include "postern.hostOf" $url }}
{{- $port := regexFind "[0-9]+$" $url | int }}
{{- $isThePod := or (include "postern.isLoopback" $host) (has $host (list "0.0.0.0" "[::]")) }}
{{- if and $isThePod (not $isSidecar) (not $.Values.extraContainers) }}
- config.upstreams.{{ $name }}.url is {{ $host }}, the pod itself, where a gateway has Postern alone; name the Service, or set mode to sidecar.
{{- end }}
{{- if and $isThePod $isSidecar (has $port (list (int $config.listen.port) (int $config.management.port))) }}
- config.upstreams.{{ $name }}.url is Postern's own port {{ $port }}; the containers of a pod share their ports.
{{- end }}
{{- if regexMatch $ownService $host }}
- config.upstreams.{{ $name }}.url is {{ $host }}, Postern's own Service; name that of the service behind it.
{{- end }}
{{- if and (hasPrefix "unix:" $url) (not $isSidecar) (not $.Values.extraVolumes) }}
- config.upstreams.{{ $name }}.url is a socket, but a gateway's pod shares no folder with the service; mount one by extraVolumes and extraVolumeMounts, or set mode to sidecar.
{{- end }}
{{- end }}
{{- end -}}
