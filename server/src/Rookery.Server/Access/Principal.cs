using System.Collections.Frozen;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;

namespace Rookery.Server.Access;

/// <summary>Who sent a request, and what he may do. Immutable.</summary>
internal sealed class Principal
{
    private readonly AccessScopes _everywhere;
    private readonly FrozenDictionary<string, AccessScopes> _byLowerDatabase;
    private readonly FrozenDictionary<string, AccessScopes>.AlternateLookup<ReadOnlySpan<char>> _lookup;
    private readonly AccessScopes _somewhere;

    /// <summary>Somebody who was given access.</summary>
    /// <param name="name">As its owner called it.</param>
    /// <param name="everywhere">What it may do, in all databases.</param>
    /// <param name="databases">What it may do besides, by database, named in any case.</param>
    public Principal(string name, AccessScopes everywhere, IEnumerable<KeyValuePair<string, AccessScopes>> databases)
    {
        Name = name;
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

    /// <summary>Whoever may do everything: on loopback, and by the local key.</summary>
    public static Principal Everything { get; } = new("local", AccessScopes.All, []);

    /// <summary>As its owner called it.</summary>
    public string Name { get; }

    /// <summary>What it may do in all databases, and with the node.</summary>
    public AccessScopes Everywhere => _everywhere;

    /// <summary>What it may do besides, by database, named in lower case.</summary>
    public IReadOnlyDictionary<string, AccessScopes> ByDatabase => _byLowerDatabase;

    /// <summary>The principal of a request.</summary>
    public static Principal Of(HttpContext http) => http.Features.Get<Principal>() ?? Everything;

    /// <summary>Whether it has one of these scopes.</summary>
    /// <param name="anyOf">The scopes.</param>
    /// <param name="database">In which database, in any case; null for what no database is named for, where a right in
    /// any of them is enough.</param>
    public bool May(AccessScopes anyOf, string? database) =>
        (In(database) & (anyOf | AccessScopes.Admin)) != AccessScopes.None;

    /// <summary>Whether it has all of these scopes.</summary>
    /// <param name="all">The scopes.</param>
    /// <param name="database">As of <see cref="May"/>.</param>
    public bool MayAll(AccessScopes all, string? database)
    {
        var held = In(database);
        return (held & AccessScopes.Admin) != AccessScopes.None || (held & all) == all;
    }

    /// <summary>Whether it may know that a database exists.</summary>
    public bool MaySee(string database) => May(AccessScopes.Read | AccessScopes.Write, database);

    private AccessScopes In(string? database)
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
