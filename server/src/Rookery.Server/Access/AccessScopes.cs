namespace Rookery.Server.Access;

/// <summary>What a client may do. The names, lower-cased, are those that owners write.</summary>
[Flags]
internal enum AccessScopes
{
    None = 0,

    /// <summary>Documents are read: by id, query, stream, changes feed, export.</summary>
    Read = 1,

    /// <summary>
    /// Documents are stored, changed, deleted, imported. It does not include <see cref="Read"/>: a sensor need not see
    /// what others sent.
    /// </summary>
    Write = 2,

    /// <summary>Everything: databases come and go, backups are taken, access is given and withdrawn.</summary>
    Admin = 4,

    /// <summary>Counters and timelines are read, and no documents.</summary>
    Metrics = 8,

    /// <summary>All of it.</summary>
    All = Read | Write | Admin | Metrics,
}

/// <summary>Scopes as text.</summary>
internal static class AccessScopeNames
{
    private static readonly (string Name, AccessScopes Scope)[] Known =
    [
        ("read", AccessScopes.Read),
        ("write", AccessScopes.Write),
        ("admin", AccessScopes.Admin),
        ("metrics", AccessScopes.Metrics),
    ];

    /// <summary>The names, for messages.</summary>
    public static string All { get; } = string.Join(", ", Known.Select(static known => known.Name));

    /// <summary>The scope of a name; <see cref="AccessScopes.None"/> when it is not one.</summary>
    public static AccessScopes Parse(string name) =>
        Array.Find(Known, known => string.Equals(known.Name, name, StringComparison.Ordinal)).Scope;

    /// <summary>The names of scopes.</summary>
    public static string[] Names(AccessScopes scopes) =>
        [.. Known.Where(known => (scopes & known.Scope) != AccessScopes.None).Select(static known => known.Name)];
}
