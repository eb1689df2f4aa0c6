using System.Collections.Frozen;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;

namespace Rookery.Server.Access;

/// <summary>The caller of a request and its rights. Immutable.</summary>
internal sealed class Principal
{
    private readonly AccessScopes _everywhere;
    private readonly FrozenDictionary<string, AccessScopes> _byLowerDatabase;
    private readonly FrozenDictionary<string, AccessScopes>.AlternateLookup<ReadOnlySpan<char>> _lookup;
    private readonly AccessScopes _somewhere; // union of the scopes everywhere and in each database

    /// <summary>Creates a caller.</summary>
    /// <param name="name">Name of the credential.</param>
    /// <param name="key">See <see cref="Key"/>.</param>
    /// <param name="everywhere">Scopes in all databases.</param>
    /// <param name="databases">Additional scopes by database; names in any case.</param>
    public Principal(
        string name,
        string key,
        AccessScopes everywhere,
        IEnumerable<KeyValuePair<string, AccessScopes>> databases
    )
    {
        Name = name;
        Key = key;
        _everywhere = everywhere;
        var lower = new Dictionary<string, AccessScopes>(StringComparer.Ordinal);
        foreach (var (database, scopes) in databases)
        {
            lower[DatabaseName.ToLower(database)] = scopes & (AccessScopes.Read | AccessScopes.Write);
        }

        _byLowerDatabase = lower.ToFrozenDictionary(StringComparer.Ordinal);
        _lookup = _byLowerDatabase.GetAlternateLookup<ReadOnlySpan<char>>();
        _somewhere = lower.Values.Aggregate(everywhere, static (all, scopes) => all | scopes);
    }

    /// <summary>The caller with all rights: on plain HTTP, or with the local token.</summary>
    public static Principal Everything { get; } = new("local", "local", AccessScopes.All, []);

    /// <summary>Name of the credential.</summary>
    public string Name { get; }

    /// <summary>
    /// Distinguishes credentials of different kinds: a token and a certificate may have the same name.
    /// </summary>
    public string Key { get; }

    /// <summary>Scopes in all databases and for the node.</summary>
    public AccessScopes Everywhere => _everywhere;

    /// <summary>Additional scopes by database; names in lower case.</summary>
    public IReadOnlyDictionary<string, AccessScopes> ByDatabase => _byLowerDatabase;

    /// <summary>Returns the caller of a request.</summary>
    public static Principal Of(HttpContext http) => http.Features.Get<Principal>() ?? Everything;

    /// <summary>Whether the caller has at least one of the scopes.</summary>
    /// <param name="anyOf">The scopes.</param>
    /// <param name="database">Name of the database, in any case. Null if the request names none; a scope in any
    /// database is then enough.</param>
    public bool HasScope(AccessScopes anyOf, string? database) =>
        (ScopesIn(database) & (anyOf | AccessScopes.Admin)) != AccessScopes.None;

    /// <summary>Whether the caller has all of the scopes.</summary>
    /// <param name="all">The scopes.</param>
    /// <param name="database">As in <see cref="HasScope"/>.</param>
    public bool HasAllScopes(AccessScopes all, string? database)
    {
        var held = ScopesIn(database);
        return (held & AccessScopes.Admin) != AccessScopes.None || (held & all) == all;
    }

    /// <summary>Whether the caller may know that a database exists.</summary>
    public bool CanSee(string database) => HasScope(AccessScopes.Read | AccessScopes.Write, database);

    private AccessScopes ScopesIn(string? database)
    {
        if (database is null)
        {
            return _somewhere;
        }

        Span<char> lower = stackalloc char[DatabaseName.MaximumLength];
        return
            database.Length <= lower.Length
            && _lookup.TryGetValue(lower[..database.AsSpan().ToLowerInvariant(lower)], out var scopes)
            ? _everywhere | scopes
            : _everywhere;
    }
}
