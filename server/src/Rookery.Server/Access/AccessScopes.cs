namespace Rookery.Server.Access;

/// <summary>Rights of a client. Their lower-case names are used in requests and commands.</summary>
[Flags]
internal enum AccessScopes
{
    None = 0,

    /// <summary>Reading documents: by id, by query, as a stream, by the changes feed, by export.</summary>
    Read = 1,

    /// <summary>
    /// Storing, changing, deleting and importing documents. It does not include <see cref="Read"/>: a sensor need not
    /// see what other clients store.
    /// </summary>
    Write = 2,

    /// <summary>Everything, including databases, backups and access.</summary>
    Admin = 4,

    /// <summary>Reading metrics and timelines, but no documents.</summary>
    Metrics = 8,

    /// <summary>All scopes.</summary>
    All = Read | Write | Admin | Metrics,
}

/// <summary>Converts scopes to and from text.</summary>
internal static class AccessScopeNames
{
    private static readonly (string Name, AccessScopes Scope)[] Known =
    [
        ("read", AccessScopes.Read),
        ("write", AccessScopes.Write),
        ("admin", AccessScopes.Admin),
        ("metrics", AccessScopes.Metrics),
    ];

    /// <summary>All names, for messages.</summary>
    public static string All { get; } = string.Join(", ", Known.Select(static known => known.Name));

    /// <summary>Returns the scope with a name; <see cref="AccessScopes.None"/> for an unknown one.</summary>
    public static AccessScopes Parse(string name) =>
        Array.Find(Known, known => string.Equals(known.Name, name, StringComparison.Ordinal)).Scope;

    /// <summary>Returns the names of scopes.</summary>
    public static string[] Names(AccessScopes scopes) =>
        [.. Known.Where(known => (scopes & known.Scope) != AccessScopes.None).Select(static known => known.Name)];
}
