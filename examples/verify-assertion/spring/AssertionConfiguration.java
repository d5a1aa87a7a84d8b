package com.example;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.oauth2.core.DelegatingOAuth2TokenValidator;
import org.springframework.security.oauth2.jose.jws.SignatureAlgorithm;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtAudienceValidator;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtIssuerValidator;
import org.springframework.security.oauth2.jwt.JwtTimestampValidator;
import org.springframework.security.oauth2.jwt.JwtTypeValidator;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;
import org.springframework.security.oauth2.server.resource.web.HeaderBearerTokenResolver;
import org.springframework.security.oauth2.server.resource.web.authentication.BearerTokenAuthenticationFilter;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.filter.OncePerRequestFilter;

/** Admits only what Postern has sent; the scopes of the caller are authorities such as SCOPE_store:read. */
@Configuration
class AssertionConfiguration {
  private static final Duration LEEWAY = Duration.ofSeconds(5);

  @Bean
  JwtDecoder decoder(
      @Value("${spring.security.oauth2.resourceserver.jwt.jwk-set-uri}") String keys,
      @Value("${spring.security.oauth2.resourceserver.jwt.audiences}") String audience,
      @Value("${postern.issuer}") String issuer) {
    NimbusJwtDecoder decoder =
        NimbusJwtDecoder.withJwkSetUri(keys)
            .jwsAlgorithm(SignatureAlgorithm.ES256)
            .validateType(false)
            .build();
    decoder.setJwtValidator(
        new DelegatingOAuth2TokenValidator<>(
            new JwtTypeValidator("postern-assertion+jwt"),
            new JwtTimestampValidator(LEEWAY),
            new JwtIssuerValidator(issuer),
            new JwtAudienceValidator(audience)));
    return decoder;
  }

  @Bean
  SecurityFilterChain chain(HttpSecurity http) throws Exception {
    return http.csrf(csrf -> csrf.disable())
        .sessionManagement(sessions -> sessions.disable())
        .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
        .oauth2ResourceServer(
            server ->
                server
                    .bearerTokenResolver(new HeaderBearerTokenResolver("X-Auth-Assertion"))
                    .jwt(jwt -> {}))
        .addFilterAfter(new RequestFilter(), BearerTokenAuthenticationFilter.class)
        .build();
  }

  /** What no library checks: the method, the target, the use of an assertion, and the other headers. */
  static class RequestFilter extends OncePerRequestFilter {
    private static final Set<String> MAY_REPEAT = Set.of("GET", "HEAD", "OPTIONS");
    private static final Map<String, String> CLAIMS =
        Map.of(
            "x-auth-subject", "sub",
            "x-auth-username", "username",
            "x-auth-method", "method",
            "x-auth-scopes", "scope",
            "x-auth-session-id", "sid",
            "x-auth-key-id", "key_id",
            "x-auth-tenant", "tenant");
    /** Claims that a later Postern may send with a header of the same name, as any other. */
    private static final Set<String> LATER = Set.of("client_id", "issuer", "delegated", "assurance");
    private final Map<String, Instant> used = new ConcurrentHashMap<>();

    @Override
    protected void doFilterInternal(
        HttpServletRequest request, HttpServletResponse response, FilterChain next)
        throws ServletException, IOException {
      if (SecurityContextHolder.getContext().getAuthentication() instanceof JwtAuthenticationToken token
          && isFor(request, token.getToken())) next.doFilter(request, response);
      else response.sendError(HttpServletResponse.SC_UNAUTHORIZED);
    }

    private boolean isFor(HttpServletRequest request, Jwt jwt) {
      String query = request.getQueryString();
      String target = request.getRequestURI() + (query == null || query.isEmpty() ? "" : "?" + query);
      return request.getMethod().equals(jwt.getClaimAsString("htm"))
          && hash(target).equals(jwt.getClaimAsString("htt"))
          && isWhole(jwt)
          && agrees(request, jwt)
          && (MAY_REPEAT.contains(request.getMethod()) || isFirstUse(jwt));
    }

    /** Spring takes tokens without these, with several audiences and from the future. */
    private static boolean isWhole(Jwt jwt) {
      return jwt.getHeaders().containsKey("kid")
          && jwt.getAudience().size() == 1
          && jwt.getExpiresAt() != null
          && !jwt.getIssuedAt().isAfter(Instant.now().plus(LEEWAY))
          && !orEmpty(jwt.getId()).isEmpty();
    }

    private boolean agrees(HttpServletRequest request, Jwt jwt) {
      for (String name : Collections.list(request.getHeaderNames())) {
        String lower = name.toLowerCase();
        String folded = lower.replaceAll("[^a-z0-9]", "-");
        if (!folded.startsWith("x-auth-")) continue;
        if (!folded.equals(lower) || Collections.list(request.getHeaders(name)).size() != 1) return false;
        boolean isKnown = CLAIMS.containsKey(lower) || lower.equals("x-auth-assertion");
        if (!isKnown && !repeats(request.getHeader(name), jwt, lower.substring(7).replace('-', '_'))) return false;
      }
      for (String claim : LATER)
        if (jwt.hasClaim(claim) && request.getHeader("x-auth-" + claim.replace('_', '-')) == null) return false;
      return CLAIMS.entrySet().stream()
          .allMatch(
              each -> {
                String sent = orEmpty(request.getHeader(each.getKey()));
                // It is signed for callers without a credential, too, who have no identity headers.
                if (each.getValue().equals("tenant") && sent.isEmpty() && jwt.getSubject() == null) return true;
                return sent.equals(orEmpty(jwt.getClaimAsString(each.getValue())));
              });
    }

    private static boolean repeats(String sent, Jwt jwt, String claim) {
      return sent.equals(jwt.getClaims().get(claim))
          || sent.isEmpty() && LATER.contains(claim) && !jwt.hasClaim(claim);
    }

    /** Known to this process alone: several that share the load need a store that they share. */
    private boolean isFirstUse(Jwt jwt) {
      Instant now = Instant.now();
      used.values().removeIf(end -> end.isBefore(now));
      return used.putIfAbsent(jwt.getId(), jwt.getExpiresAt().plus(LEEWAY)) == null;
    }

    private static String orEmpty(String text) {
      return text == null ? "" : text;
    }

    private static String hash(String text) {
      try {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.ISO_8859_1));
        return Base64.getUrlEncoder().withoutPadding().encodeToString(digest);
      } catch (GeneralSecurityException error) {
        throw new IllegalStateException(error);
      }
    }
  }
}
