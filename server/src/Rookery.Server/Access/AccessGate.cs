using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Nodes;
using Rookery.Server.Dashboard;

namespace Rookery.Server.Access;

/// <summary>Why a request is not allowed.</summary>
/// <param name="Status">HTTP status.</param>
/// <param name="Sentence">The reason, and what to do.</param>
/// <param name="MayBeStale">Whether lagging records of this node may be the reason: it does not know the credential, or
/// does not know that the cluster has an owner. The caller then checks again after a read barrier.</param>
internal readonly record struct AccessRefusal(int Status, string Sentence, bool MayBeStale = false);

/// <summary>How a request authenticates.</summary>
internal enum CredentialKind
{
    /// <summary>The request carries no credential.</summary>
    None,

    /// <summary>By a bearer token.</summary>
    Token,

    /// <summary>By the client certificate of its connection.</summary>
    Certificate,

    /// <summary>By the cookie of a session.</summary>
    Session,
}

/// <summary>
/// Decides who may use which route (docs/reference/access.md). Plain HTTP needs no credential: it serves this machine
/// only, unless the owner allows more (--insecure). Over TLS each request needs a bearer token, the client certificate
/// of its connection, or the cookie of a session that a token began. Thread-safe.
/// </summary>
internal sealed class AccessGate(ServerContext context)
{
    // Keys of the items of a connection that cache its caller.
    private static readonly object CertificateItem = new();
    private static readonly object TokenItem = new();

    private readonly Lock _loadLock = new();
    private AccessTable? _table;

    /// <summary>The browser sessions of this node.</summary>
    public Sessions Sessions { get; } = new(context.Time);

    /// <summary>Whether the cluster has an owner. A single node on plain HTTP needs none.</summary>
    /// <param name="node">The opened node.</param>
    public bool IsClaimed(Node node) => Table(node).IsClaimed;

    /// <summary>
    /// Returns why a request is refused; null if it is allowed. Costs three comparisons for a request on plain HTTP
    /// without a credential.
    /// </summary>
    public AccessRefusal? Refusal(HttpContext http, Endpoint? endpoint)
    {
        string? authorization = http.Request.Headers.Authorization;
        if (NeedsNoCredential(http, authorization))
        {
            return null;
        }

        var scope = endpoint?.Metadata.GetMetadata<RouteScope>() ?? RouteScope.Admin;
        return scope == RouteScope.Open ? null : Authorise(http, scope, authorization);
    }

    /// <summary>Whether the caller of a route of the scope "open" may also use routes of another scope.</summary>
    public bool IsAllowed(HttpContext http, RouteScope scope)
    {
        string? authorization = http.Request.Headers.Authorization;
        return (!context.Options.IsSecure && authorization is null) || Authorise(http, scope, authorization) is null;
    }

    /// <summary>
    /// Returns the caller of a request, by the first credential in it; null if this credential is invalid or there is
    /// none.
    /// </summary>
    /// <param name="http">The request.</param>
    /// <param name="kind">Kind of the credential.</param>
    public Principal? FindCaller(HttpContext http, out CredentialKind kind)
    {
        string? authorization = http.Request.Headers.Authorization;
        if (NeedsNoCredential(http, authorization))
        {
            kind = CredentialKind.None;
            return Principal.Everything;
        }

        _ = Identify(http, authorization, out kind, out var principal);
        return principal;
    }

    /// <summary>
    /// Returns why the client of a connection that is not HTTP may not read a database; null if it may. Only a client
    /// certificate identifies it.
    /// </summary>
    /// <param name="certificate">The client's certificate; null if it sent none.</param>
    /// <param name="database">Name of the database.</param>
    public AccessRefusal? WhyNoReader(X509Certificate2? certificate, string database)
    {
        if (!context.Options.IsSecure)
        {
            return null;
        }

        if (certificate is null)
        {
            return Unauthenticated("No client certificate came with the connection.");
        }

        if (IdentifyByCertificate(items: null, certificate, out var principal) is { } refusal)
        {
            return refusal;
        }

        return principal!.HasScope(AccessScopes.Read, database)
            ? null
            : new AccessRefusal(
                StatusCodes.Status403Forbidden,
                $"A subscription needs the scope read in database '{database}', which '{principal.Name}' does not have."
            );
    }

    /// <summary>
    /// Identifies the client of a connection that is not HTTP by its token. The connection caches the result until the
    /// access records change.
    /// </summary>
    /// <param name="items">Items of the connection.</param>
    /// <param name="tokenHash">SHA-256 of the token.</param>
    /// <param name="principal">The client; null if it is refused.</param>
    /// <returns>Why the client is refused; null if it is known.</returns>
    public AccessRefusal? IdentifyConnection(
        IDictionary<object, object?> items,
        ReadOnlySpan<byte> tokenHash,
        out Principal? principal
    )
    {
        if (Recall(items, tokenHash) is { } cached)
        {
            principal = cached;
            return null;
        }

        var refusal = IdentifyByToken(tokenHash, out principal, out var found);
        if (found is not null)
        {
            items[TokenItem] = found with { Authorization = tokenHash.ToArray() };
        }

        return refusal;
    }

    /// <summary>
    /// Identifies the client of a connection that is not HTTP by its certificate, as
    /// <see cref="IdentifyConnection(IDictionary{object, object?}, ReadOnlySpan{byte}, out Principal?)"/> does by
    /// token.
    /// </summary>
    public AccessRefusal? IdentifyConnection(
        IDictionary<object, object?> items,
        X509Certificate2 certificate,
        out Principal? principal
    ) => IdentifyByCertificate(items, certificate, out principal);

    /// <summary>
    /// Returns why a token cannot begin a session; null if it can. In that case <paramref name="hash"/> receives the
    /// token's hash for <see cref="Sessions"/>.
    /// </summary>
    public AccessRefusal? WhyNoSession(string token, Span<byte> hash) =>
        AccessToken.TryHash(token.AsSpan().Trim(), hash)
            ? IdentifyByToken(hash, out _, out _)
            : Unauthenticated("That is not a token of Rookery: a token looks like 'rookery_…'.");

    /// <summary>
    /// Whether the request has all rights without a credential, as on plain HTTP. If it carries a credential of Rookery
    /// nevertheless, the rights of that credential apply.
    /// </summary>
    private bool NeedsNoCredential(HttpContext http, string? authorization) =>
        !context.Options.IsSecure
        && (authorization is null ? !HasSession(http) : !AccessToken.HasTokenForm(authorization));

    // On plain HTTP the cookie may belong to a node on another port, because browsers share cookies across ports.
    private bool HasSession(HttpContext http) => SessionCookie.Of(http) is { } cookie && Sessions.TryUse(cookie, out _);

    private AccessRefusal? Authorise(HttpContext http, RouteScope scope, string? authorization)
    {
        if (Identify(http, authorization, out _, out var principal) is { } refusal)
        {
            return refusal;
        }

        string? database = scope.IsNamedInQuery
            ? new Raven.QueryParameters(http).Text("name")
            : http.Request.RouteValues["database"] as string;
        if (!scope.Admits(principal!, string.IsNullOrEmpty(database) ? null : database))
        {
            string where = string.IsNullOrEmpty(database) ? string.Empty : $" in database '{database}'";
            return new AccessRefusal(
                StatusCodes.Status403Forbidden,
                $"{http.Request.Method} {http.Request.Path} needs the scope {scope.Name}{where}, which "
                    + $"'{principal!.Name}' does not have. An admin can give it: `rookery token create` or "
                    + $"`rookery cert create`."
            );
        }

        // In diagnosis mode a known caller may read, to see what is wrong. Writes are refused, because such a node does
        // not learn which credentials were revoked.
        if (
            !ReferenceEquals(principal, Principal.Everything)
            && context.Readiness.Node is { Diagnosis: not null }
            && !HttpMethods.IsGet(http.Request.Method)
            && !HttpMethods.IsHead(http.Request.Method)
        )
        {
            return CannotCheck();
        }

        http.Features.Set(principal);
        return null;
    }

    /// <summary>Identifies the caller; returns why that failed, or null.</summary>
    private AccessRefusal? Identify(
        HttpContext http,
        string? authorization,
        out CredentialKind kind,
        out Principal? principal
    )
    {
        principal = null;
        if (authorization is not null)
        {
            kind = CredentialKind.Token;
            return IdentifyByHeader(http, authorization, out principal);
        }

        if (http.Connection.ClientCertificate is { } certificate)
        {
            kind = CredentialKind.Certificate;
            return IdentifyByCertificate(
                http.Features.Get<IConnectionItemsFeature>()?.Items,
                certificate,
                out principal
            );
        }

        if (SessionCookie.Of(http) is { } cookie)
        {
            kind = CredentialKind.Session;
            if (!Sessions.TryUse(cookie, out var tokenHash))
            {
                return Unauthenticated("The session of this browser has ended, or is another node's: sign in again.");
            }

            if (!SessionCookie.IsProtected(http))
            {
                return new AccessRefusal(StatusCodes.Status403Forbidden, SessionCookie.HeaderMissing);
            }

            return IdentifyByToken(tokenHash, out principal, out _);
        }

        kind = CredentialKind.None;
        return Unauthenticated("No credential came with the request.");
    }

    /// <summary>
    /// Identifies the caller by the token of a header. The connection caches the result together with its access table.
    /// A later table invalidates the cached result, so a revoked token stops working.
    /// </summary>
    private AccessRefusal? IdentifyByHeader(HttpContext http, string authorization, out Principal? principal)
    {
        principal = null;
        var items = http.Features.Get<IConnectionItemsFeature>()?.Items;
        byte[] header = Encoding.ASCII.GetBytes(authorization);
        if (items is not null && Recall(items, header) is { } cached)
        {
            principal = cached;
            return null;
        }

        Span<byte> hash = stackalloc byte[AccessToken.HashBytes];
        if (!AccessToken.TryHashHeader(authorization, hash))
        {
            return Unauthenticated(
                "The Authorization header holds no token of Rookery: it must look like 'Bearer rookery_…'."
            );
        }

        var refusal = IdentifyByToken(hash, out principal, out var found);
        if (items is not null && found is not null)
        {
            items[TokenItem] = found with { Authorization = header };
        }

        return refusal;
    }

    private AccessRefusal? IdentifyByToken(
        ReadOnlySpan<byte> hash,
        out Principal? principal,
        out CachedPrincipal? result
    )
    {
        principal = null;
        result = null;
        if (
            context.Options.LocalKeyHash is { Length: AccessToken.HashBytes } local
            && CryptographicOperations.FixedTimeEquals(local.Span, hash)
        )
        {
            principal = Principal.Everything;
            return null;
        }

        if (NodeWithRecords is not { } node)
        {
            return CannotCheck();
        }

        var table = Table(node);
        if (!table.TryFindToken(hash, out var found, out var expires))
        {
            return node.Diagnosis is not null
                ? CannotCheck()
                : Unauthenticated("The token is not known: it was revoked, or belongs to another cluster.") with
                {
                    MayBeStale = true,
                };
        }

        if (HasExpired(node, expires))
        {
            return Unauthenticated($"The token '{found.Name}' expired at {expires.UtcDateTime:u}.");
        }

        principal = found;
        result = new CachedPrincipal(table, found, expires, Authorization: []);
        return null;
    }

    /// <summary>
    /// Identifies the caller by certificate. The connection caches the result until the access records or the trusted
    /// authorities change.
    /// </summary>
    private AccessRefusal? IdentifyByCertificate(
        IDictionary<object, object?>? items,
        X509Certificate2 certificate,
        out Principal? principal
    )
    {
        principal = null;
        if (NodeWithRecords is not { } node)
        {
            return CannotCheck();
        }

        var current = Table(node);
        if (items is not null && Recall(items, authorization: []) is { } cached)
        {
            principal = cached;
            return null;
        }

        string thumbprint = ThumbprintOf(certificate);
        if (!current.TryFindCertificate(thumbprint, out var found))
        {
            return node.Diagnosis is not null
                ? CannotCheck()
                : new AccessRefusal(
                    StatusCodes.Status403Forbidden,
                    $"The client certificate of {certificate.Subject} with SHA-256 thumbprint {thumbprint} "
                        + $"is not registered here: it was revoked, or belongs to another cluster. "
                        + $"{HowToEnter(current.IsClaimed)}",
                    MayBeStale: true
                );
        }

        var identity = context.Options.Identity?.Invoke();
        if (identity?.WhyRefused(certificate, node.Consensus.Time) is { } reason)
        {
            return new AccessRefusal(
                StatusCodes.Status403Forbidden,
                $"{reason} Make another with `rookery cert create`."
            );
        }

        if (items is not null)
        {
            items[CertificateItem] = new CachedPrincipal(
                current,
                found,
                new DateTimeOffset(certificate.NotAfter),
                Authorization: []
            )
            {
                Identity = identity,
            };
        }

        principal = found;
        return null;
    }

    /// <summary>
    /// Returns the name under which a certificate is registered: its SHA-256 in lower-case hexadecimal.
    /// </summary>
    public static string ThumbprintOf(X509Certificate2 certificate) =>
        Convert.ToHexStringLower(SHA256.HashData(certificate.RawDataMemory.Span));

    /// <summary>
    /// Whether a credential has expired, by the cluster's time. Reads that time only for credentials that can expire.
    /// </summary>
    private static bool HasExpired(Node node, DateTimeOffset end) =>
        end != DateTimeOffset.MaxValue && node.Consensus.Time.IsPast(end);

    /// <summary>
    /// Returns the caller of a request, if an earlier request of the same connection had the same credential and the
    /// access records have not changed since. Reads no disk.
    /// </summary>
    /// <param name="connection">Items of the connection.</param>
    /// <param name="authorization">The Authorization header; empty for the certificate of the connection.</param>
    /// <returns>The caller; null if the request must be checked in full.</returns>
    public Principal? Recall(IDictionary<object, object?> connection, ReadOnlySpan<byte> authorization) =>
        NodeWithRecords is { } node
        && CurrentTable(node) is { } current
        && connection.TryGetValue(authorization.IsEmpty ? CertificateItem : TokenItem, out object? item)
        && item is CachedPrincipal cached
        && ReferenceEquals(cached.Table, current)
        && authorization.SequenceEqual(cached.Authorization)
        && !HasExpired(node, cached.Expires)
        && (cached.Identity is null || ReferenceEquals(cached.Identity, context.Options.Identity?.Invoke()))
            ? cached.Principal
            : null;

    private AccessTable Table(Node node) => CurrentTable(node) ?? Load(node);

    private AccessTable? CurrentTable(Node node) =>
        Volatile.Read(ref _table) is { } table && table.Revision == node.ClusterRecords.Revision ? table : null;

    private AccessTable Load(Node node)
    {
        lock (_loadLock)
        {
            if (_table is null || _table.Revision != node.ClusterRecords.Revision)
            {
                Volatile.Write(ref _table, AccessTable.Load(node.ClusterRecords));
            }

            return _table!;
        }
    }

    /// <summary>Returns the refusal of a node that may lack acknowledged access records: 503.</summary>
    public AccessRefusal CannotCheck() =>
        new(
            StatusCodes.Status503ServiceUnavailable,
            $"Your credential cannot be checked now. {context.PublicText.ForEveryone(WhyUnavailable())}"
        );

    // A node whose disk failed after it opened can still check credentials, so its owner can sign in and see why.
    private Node? NodeWithRecords =>
        context.Readiness.Node is { } node && (node.Diagnosis is null || node.HasOpened) ? node : null;

    private string WhyUnavailable() =>
        context.Readiness switch
        {
            { Reason: { } reason } => reason,
            { Node: { } node } => node.Consensus.Refusal?.Message
                ?? (
                    "This node knows no leader, so its list of credentials may be outdated; try again in a second, "
                    + "or use another node."
                ),
            _ => "The node is opening its data.",
        };

    // A member that has just joined may not know yet that the cluster has an owner.
    private AccessRefusal Unauthenticated(string sentence)
    {
        bool isClaimed = context.Readiness.Node is not { Diagnosis: null } node || IsClaimed(node);
        return new AccessRefusal(
            StatusCodes.Status401Unauthorized,
            $"{sentence} {HowToEnter(isClaimed)}",
            MayBeStale: !isClaimed
        );
    }

    // On plain HTTP a request without a credential has all rights, and `rookery claim` is refused.
    private string HowToEnter(bool isClaimed) =>
        !context.Options.IsSecure
            ? "This node uses plain HTTP, which needs no credential: leave it out, or make a token with `rookery token "
                + "create`."
        : isClaimed
            ? $"{AuthenticationHints.ForPrograms} an admin makes them with `rookery token create` and `rookery cert "
                + "create`."
        : "This node has no owner yet: claim it with `rookery claim`, or on its page, and the code that it "
            + "printed at its start or that was preset.";

    /// <summary>The caller that a connection caches.</summary>
    /// <param name="Table">The access records in which the caller was found.</param>
    /// <param name="Principal">The caller.</param>
    /// <param name="Expires">When the caller's credential expires.</param>
    /// <param name="Authorization">The Authorization header; empty for a client certificate.</param>
    private sealed record CachedPrincipal(
        AccessTable Table,
        Principal Principal,
        DateTimeOffset Expires,
        byte[] Authorization
    )
    {
        /// <summary>
        /// The identity of this node that accepted the client's certificate; null for a token. This node may cease to
        /// trust the authority of the certificate after the access records changed.
        /// </summary>
        public IServerIdentity? Identity { get; init; }
    }
}
