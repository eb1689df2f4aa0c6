namespace Rookery.Scripting.Patterns;

/// <summary>A part of a parsed regular expression.</summary>
internal abstract record PatternNode
{
    /// <summary>Whether the part can match the empty text.</summary>
    public abstract bool IsNullable { get; }

    /// <summary>
    /// Whether the part may prefer the empty text although it can match more, or captures something. Then an optional
    /// repetition of it must know whether the repetition was empty.
    /// </summary>
    public abstract bool DependsOnEmptiness { get; }

    /// <summary>Whether the part contains a lazy repetition.</summary>
    public virtual bool HasLazy => false;

    /// <summary>Whether the part matches only the empty text, and compiles to no instruction.</summary>
    public virtual bool IsEmpty => false;
}

/// <summary>One character of a set.</summary>
/// <param name="Set">The set.</param>
internal sealed record CharacterNode(CharacterSet Set) : PatternNode
{
    /// <inheritdoc/>
    public override bool IsNullable => false;

    /// <inheritdoc/>
    public override bool DependsOnEmptiness => false;
}

/// <summary>A condition on the position, such as <c>^</c>.</summary>
/// <param name="Kind">One of the assertions of <see cref="PatternOpcode"/>.</param>
internal sealed record AssertionNode(PatternOpcode Kind) : PatternNode
{
    /// <inheritdoc/>
    public override bool IsNullable => true;

    /// <inheritdoc/>
    public override bool DependsOnEmptiness => false;
}

/// <summary>Parts that follow each other, none of which is empty.</summary>
internal sealed record SequenceNode(IReadOnlyList<PatternNode> Parts) : PatternNode
{
    /// <inheritdoc/>
    public override bool IsNullable => Parts.All(static part => part.IsNullable);

    /// <inheritdoc/>
    public override bool DependsOnEmptiness => Parts.Any(static part => part.DependsOnEmptiness);

    /// <inheritdoc/>
    public override bool HasLazy => Parts.Any(static part => part.HasLazy);

    /// <inheritdoc/>
    public override bool IsEmpty => Parts.Count == 0;
}

/// <summary>Alternatives, of which the first that leads to a match is taken.</summary>
internal sealed record AlternativesNode(IReadOnlyList<PatternNode> Alternatives) : PatternNode
{
    /// <inheritdoc/>
    public override bool IsNullable => Alternatives.Any(static alternative => alternative.IsNullable);

    /// <inheritdoc/>
    public override bool HasLazy => Alternatives.Any(static alternative => alternative.HasLazy);

    /// <inheritdoc/>
    public override bool DependsOnEmptiness => true;
}

/// <summary>A group that captures; its number counts from 1.</summary>
internal sealed record CaptureNode(int Number, PatternNode Inner) : PatternNode
{
    /// <inheritdoc/>
    public override bool HasLazy => Inner.HasLazy;

    /// <inheritdoc/>
    public override bool IsNullable => Inner.IsNullable;

    /// <inheritdoc/>
    public override bool DependsOnEmptiness => true;
}

/// <summary>A repetition.</summary>
/// <param name="Inner">The repeated part, which is not empty.</param>
/// <param name="Min">The least number.</param>
/// <param name="Max">The greatest number; -1 if there is none.</param>
/// <param name="IsLazy">Whether fewer repetitions are preferred.</param>
/// <param name="FirstCapture">The number of the first capture inside.</param>
/// <param name="EndCapture">The number after that of the last capture inside.</param>
internal sealed record RepetitionNode(
    PatternNode Inner,
    int Min,
    int Max,
    bool IsLazy,
    int FirstCapture,
    int EndCapture
) : PatternNode
{
    /// <inheritdoc/>
    public override bool IsNullable => Min == 0 || Inner.IsNullable;

    /// <inheritdoc/>
    public override bool DependsOnEmptiness => IsLazy || Inner.DependsOnEmptiness;

    /// <inheritdoc/>
    public override bool HasLazy => IsLazy || Inner.HasLazy;

    /// <inheritdoc/>
    public override bool IsEmpty => Max == 0;
}
