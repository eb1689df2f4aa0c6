namespace Rookery.Transfer;

/// <summary>One document of an input.</summary>
/// <param name="Json">Its JSON, on one line; valid until the next is read.</param>
/// <param name="Place">The number of its line, or, where there are none, its own, from 1.</param>
/// <param name="Error">Why it is no document; null when it is for the node to judge.</param>
internal readonly record struct ImportRecord(ReadOnlyMemory<byte> Json, long Place, string? Error = null)
{
    /// <summary>No document: the source holds something else that has to be taken from it before it goes on.</summary>
    public static ImportRecord Pause { get; } = new(default, 0);

    /// <summary>Whether this is <see cref="Pause"/>.</summary>
    public bool IsPause => Place == 0;
}

/// <summary>
/// Documents of an input, one after the other, in an order that does not change when it is read again.
/// </summary>
internal interface IRecordSource
{
    /// <summary>What <see cref="ImportRecord.Place"/> counts: "line", "document".</summary>
    string PlaceName { get; }

    /// <summary>Reads the next.</summary>
    /// <returns>False when there is none.</returns>
    /// <exception cref="BadInputException">The input cannot be read further.</exception>
    bool TryRead(out ImportRecord record);
}

/// <summary>An input cannot be read further.</summary>
/// <param name="message">One sentence: what, where.</param>
internal sealed class BadInputException(string message) : Exception(message);
