{{/* How many processes serve in a pod: as configured, else one for each whole core of the CPU limit. 0: the chart can't tell. */}}
{{- define "postern.workers" -}}
{{- $given := .Values.config.workers -}}
{{- $limit := dig "limits" "cpu" "" (.Values.resources | default dict) | toString -}}
{{- $cores := max 1 (include "postern.wholeCores" $limit | int) -}}
{{- if kindIs "invalid" $given -}}
{{- /* A file of the owner's says it itself. */}}
{{- ternary 1 $cores (not (not .Values.existingConfig)) -}}
{{- else if eq (toString $given) "auto" -}}
{{- ternary $cores 0 (not (not $limit)) -}}
{{- else if kindIs "map" $given -}}
0
{{- else -}}
{{- int $given -}}
{{- end -}}
{{- end -}}

{{/* The whole cores of a CPU limit such as 2, 2.5 or 2500m; 0 if there is none. */}}
{{- define "postern.wholeCores" -}}
{{- if hasSuffix "m" . -}}
{{- div (trimSuffix "m" . | int) 1000 -}}
{{- else -}}
{{- . | float64 | floor | int -}}
{{- end -}}
{{- end -}}

{{/* The memory that the workers beside the first one take, in MiB. */}}
{{- define "postern.memoryOfFurtherWorkers" -}}
{{- mul 160 (sub (max 1 (include "postern.workers" . | int)) 1) -}}
{{- end -}}

{{/* What the container may use: the chart's own amounts of memory are those of one worker. */}}
{{- define "postern.resources" -}}
{{- $resources := deepCopy (.Values.resources | default dict) -}}
{{- $further := include "postern.memoryOfFurtherWorkers" . | int -}}
{{- range $kind, $ofOne := dict "requests" 256 "limits" 512 -}}
{{- $amounts := index $resources $kind | default dict -}}
{{- if and $further (eq (toString $amounts.memory) (printf "%dMi" $ofOne)) -}}
{{- $_ := set $amounts "memory" (printf "%dMi" (add $ofOne $further)) -}}
{{- end -}}
{{- end -}}
{{- if $resources }}{{ toYaml $resources }}{{ end -}}
{{- end -}}

{{/* The whole MiB of an amount of memory such as 1Gi, 512M or 536870912. */}}
{{- define "postern.mebibytes" -}}
{{- $unit := regexFind "[A-Za-z]+$" . -}}
{{- $bytes := get (dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776) $unit | default 0 -}}
{{- div (mulf (trimSuffix $unit . | float64) $bytes | int64) 1048576 -}}
{{- end -}}

{{/* The kernel would kill a worker under load, again and again. */}}
{{- define "postern.workersProblems" -}}
{{- $workers := include "postern.workers" . | int -}}
{{- $limit := dig "limits" "memory" "" (include "postern.resources" . | fromYaml | default dict) | toString -}}
{{- $least := add 512 (include "postern.memoryOfFurtherWorkers" .) | int -}}
{{- if and (gt $workers 1) $limit (lt (include "postern.mebibytes" $limit | int) $least) }}
- resources.limits.memory is {{ $limit }}, but {{ $workers }} workers (config.workers, or the whole cores of resources.limits.cpu) take {{ $least }}Mi: 512Mi and 160Mi for each further one.
{{- end }}
{{- end -}}
