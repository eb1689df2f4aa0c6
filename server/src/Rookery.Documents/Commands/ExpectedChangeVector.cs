namespace Rookery.Documents.Commands;

/// <summary>What a change expects of the document it changes.</summary>
public enum Expectation : byte
{
    /// <summary>Nothing.</summary>
    Anything = 0,

    /// <summary>There is no such document.</summary>
    MustNotExist = 1,

    /// <summary>The document has exactly this change vector.</summary>
    MustEqual = 2,
}

/// <summary>
/// An expectation and, for <see cref="Expectation.MustEqual"/>, the change vector's text. Opaque: compared, never
/// parsed.
/// </summary>
public readonly ref struct ExpectedChangeVector
{
    /// <summary>Bytes an expected change vector may take; nothing longer can ever be equal to one of ours.</summary>
    public const int MaxBytes = 255;

    private ExpectedChangeVector(Expectation expectation, ReadOnlySpan<byte> text)
    {
        Expectation = expectation;
        Text = text;
    }

    /// <summary>Nothing is expected.</summary>
    public static ExpectedChangeVector None => default;

    /// <summary>The document must not exist.</summary>
    public static ExpectedChangeVector MustNotExist => new(Expectation.MustNotExist, default);

    /// <summary>What is expected.</summary>
    public Expectation Expectation { get; }

    /// <summary>The change vector's text, UTF-8.</summary>
    public ReadOnlySpan<byte> Text { get; }

    /// <summary>The document must have this change vector; empty text means it must not exist.</summary>
    /// <param name="text">Cut to <see cref="MaxBytes"/>, which is still longer than any of ours, so that it stays
    /// unequal.</param>
    public static ExpectedChangeVector MustEqual(ReadOnlySpan<byte> text) =>
        text.IsEmpty ? MustNotExist : new(Expectation.MustEqual, text[..Math.Min(text.Length, MaxBytes)]);
}
