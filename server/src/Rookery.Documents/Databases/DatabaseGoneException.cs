namespace Rookery.Documents.Databases;

/// <summary>
/// Thrown if a database was deleted or replaced while it was read, because results would be incomplete.
/// </summary>
/// <param name="name">Name of the database.</param>
/// <param name="isDeleted">Whether it was deleted; otherwise it was restored with a new history, disabled or enabled,
/// or the node installed another member's snapshot.</param>
public sealed class DatabaseGoneException(string name, bool isDeleted)
    : IOException(
        isDeleted
            ? $"Database '{name}' was deleted while it was read. If a database of that name exists now, it is another "
                + $"one."
            : $"Database '{name}' was disabled, or replaced by a restored one or by the state of another member, while "
                + $"it was read. Read it again."
    )
{
    /// <summary>The database's name.</summary>
    public string Database { get; } = name;

    /// <summary>Whether the database was deleted.</summary>
    public bool IsDeleted { get; } = isDeleted;
}
