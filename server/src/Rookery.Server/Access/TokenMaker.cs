using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;
using Rookery.Server.Raven;

namespace Rookery.Server.Access;

/// <summary>A request for a new token.</summary>
/// <param name="Name">Name of the token.</param>
/// <param name="Scopes">Names of scopes.</param>
/// <param name="Databases">Databases for the scopes read and write; null for all.</param>
/// <param name="Lifetime">Time until it expires; null for never.</param>
internal sealed record TokenRequest(
    string? Name,
    IReadOnlyList<string> Scopes,
    IReadOnlyList<string>? Databases,
    TimeSpan? Lifetime
)
{
    /// <summary>Returns why the request is invalid, in one sentence; null if it is valid.</summary>
    public string? Problem() =>
        AccessNames.Problem(Name)
        ?? (Scopes.Count == 0 ? $"A token needs a scope: {AccessScopeNames.All}." : null)
        ?? (
            Scopes.FirstOrDefault(static scope => AccessScopeNames.Parse(scope) == AccessScopes.None) is { } unknown
                ? $"'{unknown}' is not a scope; there are {AccessScopeNames.All}."
                : null
        )
        ?? Databases?.Select(DatabaseName.Problem).FirstOrDefault(static problem => problem is not null)
        ?? (Databases is { Count: 0 } ? "'Databases' is empty: name some, or omit it for all databases." : null)
        ?? ProblemOfDatabases()
        ?? (Lifetime <= TimeSpan.Zero ? "The lifetime of a token must be positive." : null);

    // Lists show the databases beside the scopes, so a token must not look limited to databases that do not limit it.
    private string? ProblemOfDatabases()
    {
        if (Databases is null)
        {
            return null;
        }

        if (Scopes.Contains("admin", StringComparer.Ordinal))
        {
            return "'Databases' does not limit the scope admin, which allows everything: omit one of the two.";
        }

        return Scopes.Contains("read", StringComparer.Ordinal) || Scopes.Contains("write", StringComparer.Ordinal)
            ? null
            : "'Databases' limits only the scopes read and write: add one of them, or omit 'Databases'.";
    }
}

/// <summary>A new token and its record. Only the answer to its request shows the token.</summary>
internal sealed record MadeToken(string Token, TokenRecord Record);

/// <summary>
/// Creates tokens and stores their hashes. Expiry is computed by the cluster's time, not by this node's clock.
/// </summary>
internal sealed class TokenMaker(ServerContext context)
{
    /// <summary>Creates a token and commits its record together with other records, all or none.</summary>
    /// <param name="request">The token to create.</param>
    /// <param name="taken">Message if another token has the name; null to replace that token.</param>
    /// <param name="alongside">Adds the other records.</param>
    /// <exception cref="RefusedException">The token was not created; the message has the reason.</exception>
    public async Task<MadeToken> MakeAsync(TokenRequest request, string? taken, Action<ClusterRecordWriter> alongside)
    {
        if (request.Problem() is { } problem)
        {
            throw RefusedException.BadRequest(problem);
        }

        var time = context.Node.Consensus.Time;
        if (request.Lifetime is not null && !time.IsSure)
        {
            throw new RefusedException(
                StatusCodes.Status503ServiceUnavailable,
                RavenType.RavenException,
                $"The token was not created. {ClusterTime.TimeInDoubtMessage} One without a lifetime can be created."
            );
        }

        var now = time.Known ?? context.Time.GetUtcNow();
        var record = new TokenRecord(
            request.Name!,
            [.. request.Scopes],
            request.Databases is null ? null : [.. request.Databases],
            now,
            request.Lifetime is { } lifetime ? now + lifetime : null
        );
        string token = AccessToken.Create();
        byte[] hash = new byte[AccessToken.HashBytes];
        AccessToken.TryHash(token, hash);
        await context.CredentialQuota.CommitAsync(
            writer =>
            {
                writer.Set(AccessToken.KeyOf(hash), AccessJson.Encode(record), ClusterRecord.Absent);
                writer.Set(AccessNames.KeyOfToken(record.Name), "{}"u8, taken is null ? null : ClusterRecord.Absent);
                alongside(writer);
            },
            taken
        );
        return new MadeToken(token, record);
    }

    /// <summary>Returns all tokens with their keys.</summary>
    public static IEnumerable<(string Key, TokenRecord Token)> All(Node node)
    {
        foreach (var record in node.ClusterRecords.List(ClusterRecordPrefix.Access))
        {
            if (AccessToken.HashIn(record.Key) is not null && AccessJson.DecodeToken(record.Value.Span) is { } token)
            {
                yield return (record.Key, token);
            }
        }
    }
}
