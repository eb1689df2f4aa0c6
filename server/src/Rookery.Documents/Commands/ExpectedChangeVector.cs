namespace Rookery.Documents.Commands;

/// <summary>What an operation expects of the document that it changes.</summary>
public enum Expectation : byte
{
    /// <summary>Any version, or no document.</summary>
    Anything = 0,

    /// <summary>The document does not exist.</summary>
    MustNotExist = 1,

    /// <summary>The document has exactly this change vector.</summary>
    MustEqual = 2,
}

/// <summary>
/// An expectation and, for <see cref="Expectation.MustEqual"/>, the text of the change vector. The text is compared,
/// never parsed.
/// </summary>
public readonly ref struct ExpectedChangeVector
{
    /// <summary>Maximum length of an expected change vector. No stored change vector is this long.</summary>
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

    /// <summary>The kind of expectation.</summary>
    public Expectation Expectation { get; }

    /// <summary>The change vector's text, UTF-8.</summary>
    public ReadOnlySpan<byte> Text { get; }

    /// <summary>Expects this change vector; an empty text expects that the document does not exist.</summary>
    /// <param name="text">The change vector. A text longer than <see cref="MaxBytes"/> is truncated to that length, at
    /// which it still equals no stored change vector.</param>
    public static ExpectedChangeVector MustEqual(ReadOnlySpan<byte> text) =>
        text.IsEmpty ? MustNotExist : new(Expectation.MustEqual, text[..Math.Min(text.Length, MaxBytes)]);
}
