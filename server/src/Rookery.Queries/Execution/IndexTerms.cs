using System.Text;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>
/// Reads the terms of an index's field in order, each once across segments. Terms that only deleted documents have may
/// be included until segments are merged.
/// </summary>
internal static class IndexTerms
{
    /// <summary>Reads the values of a field, as <see cref="ShownTerms"/> shows them.</summary>
    /// <param name="snapshot">The index's snapshot.</param>
    /// <param name="field">The number of the field.</param>
    /// <param name="after">The value to start after, as shown; null to start with the first.</param>
    /// <param name="count">Maximum number of terms.</param>
    public static List<string> ReadValues(IndexSnapshot snapshot, int field, string? after, int count)
    {
        var shown = new ShownTerms(snapshot, field);
        return Read(snapshot, field, after is null ? [] : shown.SeekKeyAfter(after), count, shown.ShowOnce);
    }

    /// <summary>Reads the words of a field. The parameters are those of <see cref="ReadValues"/>.</summary>
    public static List<string> ReadWords(IndexSnapshot snapshot, int field, string? after, int count) =>
        Read(
            snapshot,
            field,
            after is null ? [] : [.. Encoding.UTF8.GetBytes(after), 0],
            count,
            static term => Encoding.UTF8.GetString(term)
        );

    /// <summary>Returns cursors over the terms of a field, one for each segment that has the field.</summary>
    public static IEnumerable<TermCursor> OpenCursors(IndexSnapshot snapshot, int field) =>
        snapshot.Segments.Select(segment => segment.Reader.Field(field)?.Terms()).OfType<TermCursor>();

    // `show` returns the text of a term, or null to leave the term out.
    private static List<string> Read(
        IndexSnapshot snapshot,
        int field,
        byte[] seekKey,
        int count,
        Func<byte[], string?> show
    )
    {
        var cursors = OpenCursors(snapshot, field).Where(cursor => cursor.Seek(seekKey)).ToList();
        var terms = new List<string>();
        while (cursors.Count > 0 && terms.Count < count)
        {
            byte[] leastTerm = cursors[0].Term.ToArray();
            foreach (var cursor in cursors.Skip(1).Where(cursor => cursor.Term.SequenceCompareTo(leastTerm) < 0))
            {
                leastTerm = cursor.Term.ToArray();
            }

            if (show(leastTerm) is { } text)
            {
                terms.Add(text);
            }

            cursors.RemoveAll(cursor => cursor.Term.SequenceEqual(leastTerm) && !cursor.MoveNext());
        }

        return terms;
    }
}
