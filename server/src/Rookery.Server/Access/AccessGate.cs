using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Nodes;
using Rookery.Server.Dashboard;

namespace Rookery.Server.Access;

/// <summary>A request that its sender may not make.</summary>
/// <param name="Status">The status.</param>
/// <param name="Sentence">Why, and what to do.</param>
/// <param name="MayBeBehind">The credential is not known here, or no owner is; a node that is behind may know it
/// later.</param>
internal readonly record struct AccessRefusal(int Status, string Sentence, bool MayBeBehind = false);

/// <summary>By what a request shows who sends it.</summary>
internal enum CredentialKind
{
    /// <summary>By nothing.</summary>
    None,

    /// <summary>A bearer token.</summary>
    Token,

    /// <summary>The connection's client certificate.</summary>
    Certificate,

    /// <summary>The cookie of a session.</summary>
    Session,
}

/// <summary>
/// Decides who may use which route (docs/reference/access.md). Plain HTTP is for this machine, or for everybody by the
/// owner's word, and asks nobody who he is. Over TLS each request brings a bearer token, or its connection a client
/// certificate, or it the cookie of a session that a token began.
/// </summary>
internal sealed class AccessGate(ServerContext context)
{
    private static readonly object OfConnection = new();

    private readonly Lock _loading = new();
    private AccessTable? _table;

    /// <summary>Who signed in with a browser.</summary>
    public Sessions Sessions { get; } = new(context.Time);

    /// <summary>Whether the node has an owner. A node alone that listens on plain HTTP needs none.</summary>
    /// <param name="node">Its opened data.</param>
    public bool IsClaimed(Node node) => Table(node).IsClaimed;

    /// <summary>
    /// Why a request is refused; null when it is not. For plain HTTP without a credential: three comparisons.
    /// </summary>
    public AccessRefusal? Refusal(HttpContext http, Endpoint? endpoint)
    {
        string? authorization = http.Request.Headers.Authorization;
        if (AsksNobody(http, authorization))
        {
            return null;
        }

        var scope = endpoint?.Metadata.GetMetadata<RouteScope>() ?? RouteScope.Admin;
        return scope == RouteScope.Open ? null : Judge(http, scope, authorization);
    }

    /// <summary>
    /// Whether who makes a request of a route that is open to everybody could also use those of a scope.
    /// </summary>
    public bool May(HttpContext http, RouteScope scope)
    {
        string? authorization = http.Request.Headers.Authorization;
        return (!context.Options.IsSecure && authorization is null) || Judge(http, scope, authorization) is null;
    }

    /// <summary>
    /// Who makes a request, by the first credential that it brings; null when that opens nothing, or it brings none.
    /// </summary>
    /// <param name="http">The request.</param>
    /// <param name="kind">What was brought.</param>
    public Principal? Who(HttpContext http, out CredentialKind kind)
    {
        string? authorization = http.Request.Headers.Authorization;
        if (AsksNobody(http, authorization))
        {
            kind = CredentialKind.None;
            return Principal.Everything;
        }

        _ = WhoAsks(http, authorization, out kind, out var principal);
        return principal;
    }

    /// <summary>
    /// Why nobody may sign in with a token, or null; then <paramref name="hash"/> is its hash, for
    /// <see cref="Sessions"/>.
    /// </summary>
    public AccessRefusal? WhyNoSession(string token, Span<byte> hash) =>
        AccessToken.TryHash(token.AsSpan().Trim(), hash)
            ? WhoHoldsToken(hash, out _)
            : Unknown("That is no token of Rookery, which looks like 'rookery_…'.");

    /// <summary>
    /// Plain HTTP asks nobody who he is; who brings a credential of Rookery all the same has its rights only.
    /// </summary>
    private bool AsksNobody(HttpContext http, string? authorization) =>
        !context.Options.IsSecure && (authorization is null ? !HasSession(http) : !AccessToken.IsMeant(authorization));

    // There a cookie may be of a node that listens on another port: browsers do not tell those apart.
    private bool HasSession(HttpContext http) => SessionCookie.Of(http) is { } cookie && Sessions.TryUse(cookie, out _);

    private AccessRefusal? Judge(HttpContext http, RouteScope scope, string? authorization)
    {
        if (WhoAsks(http, authorization, out _, out var principal) is { } refusal)
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

        // Whom it knew may look what is wrong; whether they may still change anything only a node can say that hears of
        // what was withdrawn.
        if (
            !ReferenceEquals(principal, Principal.Everything)
            && context.Readiness.Node is { Diagnosis: not null }
            && !HttpMethods.IsGet(http.Request.Method)
            && !HttpMethods.IsHead(http.Request.Method)
        )
        {
            return NotKnownYet();
        }

        http.Features.Set(principal);
        return null;
    }

    /// <summary>Why nobody is known to ask, or null and who does.</summary>
    private AccessRefusal? WhoAsks(
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
            Span<byte> hash = stackalloc byte[AccessToken.HashBytes];
            return AccessToken.TryHashHeader(authorization, hash)
                ? WhoHoldsToken(hash, out principal)
                : Unknown("The Authorization header holds no token of Rookery, which looks like 'Bearer rookery_…'.");
        }

        if (http.Connection.ClientCertificate is { } certificate)
        {
            kind = CredentialKind.Certificate;
            return WhoHoldsCertificate(http, certificate, out principal);
        }

        if (SessionCookie.Of(http) is { } cookie)
        {
            kind = CredentialKind.Session;
            return !Sessions.TryUse(cookie, out var tokenHash)
                    ? Unknown("The session of this browser has ended, or is another node's: sign in again.")
                : !SessionCookie.IsOwnRequest(http)
                    ? new AccessRefusal(StatusCodes.Status403Forbidden, SessionCookie.HeaderMissing)
                : WhoHoldsToken(tokenHash, out principal);
        }

        kind = CredentialKind.None;
        return Unknown("No credential came with the request.");
    }

    private AccessRefusal? WhoHoldsToken(ReadOnlySpan<byte> hash, out Principal? principal)
    {
        principal = null;
        if (
            context.Options.LocalKeyHash is { Length: AccessToken.HashBytes } local
            && CryptographicOperations.FixedTimeEquals(local.Span, hash)
        )
        {
            principal = Principal.Everything;
            return null;
        }

        if (KnowingNode is not { } node)
        {
            return NotKnownYet();
        }

        if (!Table(node).TryFindToken(hash, out var found, out var expires))
        {
            return node.Diagnosis is not null
                ? NotKnownYet()
                : Unknown("The token is not known: it was withdrawn, or belongs to another cluster.") with
                {
                    MayBeBehind = true,
                };
        }

        if (HasEnded(node, expires))
        {
            return Unknown($"The token '{found.Name}' ended at {expires.UtcDateTime:u}.");
        }

        principal = found;
        return null;
    }

    /// <summary>Found once for a connection, as long as nobody's access changes.</summary>
    private AccessRefusal? WhoHoldsCertificate(HttpContext http, X509Certificate2 certificate, out Principal? principal)
    {
        principal = null;
        if (KnowingNode is not { } node)
        {
            return NotKnownYet();
        }

        var current = Table(node);
        var items = http.Features.Get<IConnectionItemsFeature>()?.Items;
        if (
            items is not null
            && items.TryGetValue(OfConnection, out object? kept)
            && kept is Known known
            && ReferenceEquals(known.From, current)
            && !HasEnded(node, known.Expires)
        )
        {
            principal = known.Principal;
            return null;
        }

        string thumbprint = ThumbprintOf(certificate);
        if (!current.TryFindCertificate(thumbprint, out var found))
        {
            return node.Diagnosis is not null
                ? NotKnownYet()
                : new AccessRefusal(
                    StatusCodes.Status403Forbidden,
                    $"The client certificate of {certificate.Subject} with SHA-256 thumbprint {thumbprint} "
                        + $"is not registered here: it was withdrawn, or belongs to another cluster. "
                        + $"{HowToEnter(current.IsClaimed)}",
                    MayBeBehind: true
                );
        }

        if (context.Options.Identity?.Invoke()?.WhyRefused(certificate, node.Consensus.Time) is { } reason)
        {
            return new AccessRefusal(
                StatusCodes.Status403Forbidden,
                $"{reason} Make another with `rookery cert create`."
            );
        }

        if (items is not null)
        {
            items[OfConnection] = new Known(current, found, new DateTimeOffset(certificate.NotAfter));
        }

        principal = found;
        return null;
    }

    /// <summary>The name under which a certificate is registered: its SHA-256.</summary>
    public static string ThumbprintOf(X509Certificate2 certificate) =>
        Convert.ToHexStringLower(SHA256.HashData(certificate.RawDataMemory.Span));

    /// <summary>By the cluster's time. Most tokens have no end, and cost no look at it.</summary>
    private static bool HasEnded(Node node, DateTimeOffset end) =>
        end != DateTimeOffset.MaxValue && node.Consensus.Time.IsPast(end);

    private AccessTable Table(Node node)
    {
        var current = Volatile.Read(ref _table);
        return current is not null && current.Revision == node.ClusterRecords.Revision ? current : Load(node);
    }

    private AccessTable Load(Node node)
    {
        lock (_loading)
        {
            if (_table is null || _table.Revision != node.ClusterRecords.Revision)
            {
                Volatile.Write(ref _table, AccessTable.Load(node.ClusterRecords));
            }

            return _table!;
        }
    }

    /// <summary>For a node that cannot say now whether it knows all that was acknowledged.</summary>
    public AccessRefusal NotKnownYet() =>
        new(StatusCodes.Status503ServiceUnavailable, $"Who you are cannot be checked now. {WhyNotNow()}");

    // One whose disk failed after it had opened knows whom it knew: its owner has to be able to see why.
    private Node? KnowingNode =>
        context.Readiness.Node is { } node && (node.Diagnosis is null || node.HasOpened) ? node : null;

    private string WhyNotNow() =>
        context.Readiness switch
        {
            { Reason: { } reason } => reason,
            { Node: { } node } => node.Consensus.Refusal?.Message
                ?? (
                    "No member leads, or none is known here, and this one may be behind; try again in a second, or "
                    + "another node."
                ),
            _ => "The node is opening its data.",
        };

    // A member that has just joined has not heard yet of the cluster's owner.
    private AccessRefusal Unknown(string sentence)
    {
        bool isClaimed = context.Readiness.Node is not { Diagnosis: null } node || IsClaimed(node);
        return new AccessRefusal(
            StatusCodes.Status401Unauthorized,
            $"{sentence} {HowToEnter(isClaimed)}",
            MayBeBehind: !isClaimed
        );
    }

    private static string HowToEnter(bool isClaimed) =>
        isClaimed
            ? $"{HowToGetIn.ForPrograms} an admin makes them with `rookery token create` and `rookery cert create`."
            : "This node has no owner yet: claim it with `rookery claim`, or on its page, and the code that it "
                + "printed at its start or that was preset.";

    private sealed record Known(AccessTable From, Principal Principal, DateTimeOffset Expires);
}
