namespace Rookery.Queries.Language;

/// <summary>A clause of Lucene's query language, as it was written. Texts are without escapes.</summary>
public abstract record LuceneClause;

/// <summary>What is looked for in one field.</summary>
/// <param name="Field">The field that a prefix names; null for that of <c>lucene()</c>.</param>
public abstract record LuceneLeaf(string? Field) : LuceneClause;

/// <summary><c>*:*</c>: every document.</summary>
public sealed record LuceneEvery : LuceneClause;

/// <summary>A term, or a phrase in quotes.</summary>
/// <param name="Field">The field that a prefix names; null for that of <c>lucene()</c>.</param>
/// <param name="Text">The text.</param>
/// <param name="Slop">How far the words of a phrase may be from their places.</param>
public sealed record LuceneText(string? Field, string Text, int Slop) : LuceneLeaf(Field);

/// <summary>A term with <c>*</c> and <c>?</c>.</summary>
/// <param name="Field">The field that a prefix names; null for that of <c>lucene()</c>.</param>
/// <param name="Text">The term, with <see cref="Many"/> and <see cref="One"/> for what may be anything.</param>
public sealed record LucenePattern(string? Field, string Text) : LuceneLeaf(Field)
{
    /// <summary>Stands for <c>*</c>: a character that belongs to no text (a noncharacter).</summary>
    public const char Many = '\uFFFF';

    /// <summary>Stands for <c>?</c>.</summary>
    public const char One = '\uFFFE';
}

/// <summary><c>term~0.7</c>: similar terms.</summary>
/// <param name="Field">The field that a prefix names; null for that of <c>lucene()</c>.</param>
/// <param name="Text">The term.</param>
/// <param name="Similarity">From 0 to below 1.</param>
public sealed record LuceneSimilar(string? Field, string Text, double Similarity) : LuceneLeaf(Field);

/// <summary><c>[a TO b]</c>, <c>{a TO b}</c>: terms between two, in the order of texts.</summary>
/// <param name="Field">The field that a prefix names; null for that of <c>lucene()</c>.</param>
/// <param name="Low">The least; null for none.</param>
/// <param name="High">The greatest; null for none.</param>
/// <param name="IsIncluded">Whether both belong to it.</param>
public sealed record LuceneRange(string? Field, string? Low, string? High, bool IsIncluded) : LuceneLeaf(Field);

/// <summary><c>clause^2</c>: counts so many times in the score.</summary>
/// <param name="Inner">What is boosted.</param>
/// <param name="Factor">Above 0.</param>
public sealed record LuceneBoosted(LuceneClause Inner, double Factor) : LuceneClause;

/// <summary>What a part means for the whole.</summary>
public enum LuceneOccur
{
    /// <summary>It need not hold where another does that has to.</summary>
    Should,

    /// <summary>It has to hold.</summary>
    Must,

    /// <summary>It must not hold.</summary>
    MustNot,
}

/// <summary>Several clauses.</summary>
/// <param name="Parts">At least one.</param>
public sealed record LuceneBoolean(IReadOnlyList<(LuceneOccur Occur, LuceneClause Clause)> Parts) : LuceneClause;
