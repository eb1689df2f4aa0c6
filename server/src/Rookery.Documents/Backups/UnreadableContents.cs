using Rookery.Documents.Databases;

namespace Rookery.Documents.Backups;

/// <summary>The contents of attachments that a backup lacks, or has with damage.</summary>
/// <param name="Named">Hash and database of each, up to a maximum.</param>
/// <param name="Total">The number of all of them, named or not.</param>
public sealed record UnreadableContents(IReadOnlyList<string> Named, long Total)
{
    /// <summary>
    /// Returns the contents of one database. Contents that are not named may be of any database, so they remain in the
    /// total.
    /// </summary>
    public UnreadableContents Of(string database)
    {
        string[] named =
        [
            .. Named.Where(content => DatabaseName.AreEqual(content[(content.IndexOf(' ') + 1)..], database)),
        ];
        return new UnreadableContents(named, Total - Named.Count + named.Length);
    }
}
