namespace Rookery.Documents.Ids;

/// <summary>The patterns of <c>matches</c> and <c>exclude</c>: alternatives separated by <c>|</c>, <c>*</c> any text, <c>?</c> one character. Compared without regard to case with the rest of an id behind its prefix.</summary>
public sealed class IdPattern
{
    /// <summary>Reads a pattern; empty text gives one that <see cref="IsEmpty"/>.</summary>
    public IdPattern(string pattern) => throw new NotSupportedException();

    /// <summary>True when there is nothing to match.</summary>
    public bool IsEmpty { get; }

    /// <summary>Whether the lower-cased rest of an id matches one of the alternatives.</summary>
    public bool IsMatch(ReadOnlySpan<byte> lowerRest) => throw new NotSupportedException();
}
