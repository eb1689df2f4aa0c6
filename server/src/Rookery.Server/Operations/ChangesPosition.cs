using System.Globalization;
using Rookery.Documents.Databases;

namespace Rookery.Server.Operations;

/// <summary>
/// A position in the changes feed: an etag, and the id of the database's history that the etag belongs to. Its text is
/// the change vector of the etag (<c>A:7-…</c>), which contains both. A bare etag is also accepted, for readers that
/// begin with 0 or with the etag of a known document.
/// </summary>
/// <param name="Etag">The reader knows all changes up to this etag.</param>
/// <param name="HistoryId">The history of the etag; null for a bare etag.</param>
internal readonly record struct ChangesPosition(long Etag, string? HistoryId)
{
    private const string Tag = "A:";

    /// <summary>Parses the value of <c>since</c> or <c>Last-Event-ID</c>.</summary>
    /// <returns>False if the text is not a position.</returns>
    public static bool TryParse(ReadOnlySpan<char> text, out ChangesPosition position)
    {
        string? history = null;
        if (text.StartsWith(Tag, StringComparison.Ordinal))
        {
            text = text[Tag.Length..];
            int dash = text.IndexOf('-');
            history = dash < 0 ? string.Empty : text[(dash + 1)..].ToString();
            text = dash < 0 ? text : text[..dash];
        }

        bool isPosition =
            long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long etag) && history is not "";
        position = new ChangesPosition(etag, history);
        return isPosition;
    }

    /// <summary>
    /// Whether a database can report all changes after this position. It can if it has the same history, has reached
    /// the etag, and still has the tombstones of all later deletions. A database that was restored, or deleted and
    /// created again, has another history, where the same etag means another change.
    /// </summary>
    public bool CanContinueIn(Database database, in DatabaseStatistics statistics) =>
        (HistoryId is null || string.Equals(HistoryId, database.HistoryId, StringComparison.Ordinal))
        && Etag <= statistics.LastEtag
        && (Etag == 0 || Etag >= statistics.TombstoneHorizon);
}
