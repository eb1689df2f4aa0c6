using System.Text;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Rookery.Server.Access;

namespace Rookery.Redis.Connections;

/// <summary>
/// The identity of a connection's client, and its rights in the database. The client authenticates with a token, which
/// AUTH and HELLO send, or with the certificate of its TLS connection. On a node with plain HTTP every client may do
/// everything, unless it sends a token.
/// </summary>
internal sealed class ConnectionIdentity(RedisNode node, ConnectionContext connection)
{
    /// <summary>The user's name that clients of Redis send if they are configured with a token alone.</summary>
    public const string DefaultUser = "default";

    private byte[]? _tokenHash;
    private Principal? _principal;

    /// <summary>What the client may do; none before it has authenticated.</summary>
    public AccessScopes Scopes { get; private set; }

    /// <summary>Whether the client has authenticated, or need not.</summary>
    public bool IsKnown => _principal is not null;

    /// <summary>Name of the credential; empty without one.</summary>
    public string Name => _principal?.Name ?? string.Empty;

    /// <summary>Whether the node asks for a credential.</summary>
    public bool NeedsCredential => node.Context.Options.IsSecure;

    /// <summary>Whether the client's rights can end while it is connected.</summary>
    public bool MayEnd => NeedsCredential || _tokenHash is not null;

    /// <summary>
    /// Checks again whether the credential is valid: it may have been revoked, or have expired. Cheap unless access
    /// records have changed.
    /// </summary>
    public void Refresh()
    {
        Principal? principal = null;
        if (_tokenHash is not null)
        {
            _ = node.Context.Access.IdentifyConnection(connection.Items, _tokenHash, out principal);
        }
        else if (!NeedsCredential)
        {
            principal = Principal.Everything;
        }
        else if (connection.Features.Get<ITlsConnectionFeature>()?.ClientCertificate is { } certificate)
        {
            _ = node.Context.Access.IdentifyConnection(connection.Items, certificate, out principal);
        }

        Set(principal);
    }

    /// <summary>Authenticates with a token.</summary>
    /// <param name="user">The user's name: <c>default</c>, or the token's name.</param>
    /// <param name="token">The token.</param>
    /// <returns>The error for the client; null if it is known now.</returns>
    public async ValueTask<string?> AuthenticateAsync(string user, string token)
    {
        byte[] hash = new byte[AccessToken.HashBytes];
        if (!AccessToken.TryHash(token, hash))
        {
            return NeedsCredential
                ? "WRONGPASS That is not a token of Rookery: a token looks like 'rookery_...'. An admin makes tokens "
                    + "with `rookery token create`."
                : "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
                    + "configuration is correct?";
        }

        var refusal = node.Context.Access.IdentifyConnection(connection.Items, hash, out var principal);
        if (refusal is { MayBeStale: true })
        {
            // A lagging member may not know the token yet.
            refusal =
                node.Context.Readiness.Node is { } open && await open.Consensus.ReadBarrierAsync()
                    ? node.Context.Access.IdentifyConnection(connection.Items, hash, out principal)
                    : node.Context.Access.CannotCheck();
        }

        if (refusal is { } reason)
        {
            return reason.Status == StatusCodes.Status503ServiceUnavailable
                ? $"LOADING {reason.Sentence}"
                : $"WRONGPASS {reason.Sentence}";
        }

        if (user is not DefaultUser && !string.Equals(user, principal!.Name, StringComparison.Ordinal))
        {
            return $"WRONGPASS The token belongs to '{principal!.Name}'. The user's name must be '{DefaultUser}' or "
                + "that.";
        }

        _tokenHash = hash;
        Set(principal);
        return null;
    }

    /// <summary>Forgets the token, as RESET does.</summary>
    public void Forget()
    {
        _tokenHash = null;
        Refresh();
    }

    /// <summary>Returns the error of a command for which the client lacks a scope.</summary>
    public string Refuse(string command, AccessScopes scopes)
    {
        // Rights in another database do not reveal the name of this one.
        string where =
            Scopes == AccessScopes.None ? "the database of Redis clients" : $"database '{node.DatabaseName}'";
        return $"NOPERM '{command}' needs the scope {string.Join(" and ", AccessScopeNames.Names(scopes))} in {where}, "
            + $"which '{Name}' does not have. An admin can give it: `rookery token create`.";
    }

    private void Set(Principal? principal)
    {
        if (ReferenceEquals(principal, _principal))
        {
            return;
        }

        _principal = principal;
        if (principal is null)
        {
            Scopes = AccessScopes.None;
            return;
        }

        Scopes = AccessScopes.None;
        foreach (var scope in (ReadOnlySpan<AccessScopes>)[AccessScopes.Read, AccessScopes.Write, AccessScopes.Admin])
        {
            if (principal.HasScope(scope, node.DatabaseName))
            {
                Scopes |= scope;
            }
        }
    }

    /// <summary>Returns a token as text; null for bytes that are none.</summary>
    public static string? TokenOf(ReadOnlySpan<byte> bytes) =>
        bytes.Length <= 2 * AccessToken.Length && Ascii.IsValid(bytes) ? Encoding.ASCII.GetString(bytes) : null;
}
