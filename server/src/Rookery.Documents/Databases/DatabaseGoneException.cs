namespace Rookery.Documents.Databases;

/// <summary>
/// A database that was found before is not to be read any more: an answer from it would lack all or some of what it
/// held.
/// </summary>
/// <param name="name">Its name.</param>
/// <param name="isDeleted">Whether it was deleted; otherwise it goes on under another history, or the node took over
/// the state of another.</param>
public sealed class DatabaseGoneException(string name, bool isDeleted)
    : IOException(
        isDeleted
            ? $"Database '{name}' was deleted while it was read. One of that name that there is now is another."
            : $"Database '{name}' was replaced while it was read, by a restored one or by the state of another "
                + $"member. Read it again."
    )
{
    /// <summary>The database's name.</summary>
    public string Database { get; } = name;

    /// <summary>Whether it was deleted.</summary>
    public bool IsDeleted { get; } = isDeleted;
}
