namespace Rookery.Transfer;

/// <summary>One record of an input.</summary>
/// <param name="Json">The record's JSON on one line; valid until the next record is read.</param>
/// <param name="Place">The number of its line or, in formats without lines, of the document, from 1.</param>
/// <param name="Error">Why the record is not a document; null if the node must validate it.</param>
internal readonly record struct ImportRecord(ReadOnlyMemory<byte> Json, long Place, string? Error = null);

/// <summary>Reads the records of an input one by one, in the same order each time.</summary>
internal interface IRecordSource
{
    /// <summary>The unit of <see cref="ImportRecord.Place"/>: "line" or "document".</summary>
    string PlaceName { get; }

    /// <summary>Reads the next record.</summary>
    /// <returns>False at the end of the input.</returns>
    /// <exception cref="BadInputException">The input cannot be read further.</exception>
    bool TryRead(out ImportRecord record);
}

/// <summary>Thrown if an input cannot be read further.</summary>
/// <param name="message">One sentence: what is wrong, and where.</param>
internal sealed class BadInputException(string message) : Exception(message)
{
    /// <summary>Describes why the input's stream cannot be read.</summary>
    public static string ReasonOf(Exception damaged) =>
        damaged is InvalidDataException ? "its compression is damaged or cut off." : damaged.Message;
}
