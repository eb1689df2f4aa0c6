using Rookery.Json;

namespace Rookery.Indexing.Reducing;

/// <summary>
/// Reads the reduced rows of an automatic map/reduce index, and defines the marks of special groups. A row is a JSON
/// object with the keys, then the aggregates, in the order of the definition.
/// </summary>
public static class ReducedGroup
{
    /// <summary>
    /// The reduce key of all documents that the index cannot include. No other key begins with this byte.
    /// </summary>
    public static ReadOnlySpan<byte> ExcludedKey => [0xFF];

    /// <summary>
    /// The row of a document that the index cannot include, because it has too many groups or too long values.
    /// </summary>
    public static ReadOnlySpan<byte> ExcludedRow => "{\"unheld\":1}"u8;

    /// <summary>
    /// The term that marks the group of <see cref="ExcludedKey"/>, under the
    /// <see cref="Mapping.MappedField.PresenceOf"/> number that follows the last field.
    /// </summary>
    public static ReadOnlySpan<byte> ExcludedTerm => [1];

    /// <summary>
    /// The term, under the same number, that marks a group whose id is shortened and does not determine its order.
    /// </summary>
    public static ReadOnlySpan<byte> ShortenedTerm => [2];

    /// <summary>Returns whether a row stands for a document that the index cannot include.</summary>
    public static bool IsExcluded(ReadOnlySpan<byte> row) => row.SequenceEqual(ExcludedRow);

    /// <summary>Finds the values of a row.</summary>
    /// <param name="row">The row.</param>
    /// <param name="values">Receives the range of each key and aggregate.</param>
    public static void Find(ReadOnlySpan<byte> row, Span<Range> values)
    {
        int at = 1;
        foreach (ref var value in values)
        {
            StoredJson.TryReadMember(row, ref at, out _, out int start);
            value = start..at;
        }
    }
}
