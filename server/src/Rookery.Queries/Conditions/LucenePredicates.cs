using System.Globalization;
using System.Text;
using Rookery.Indexing.Values;
using Rookery.Queries.Language;
using Rookery.Search.Values;

namespace Rookery.Queries.Conditions;

/// <summary>
/// Makes a condition of a Lucene clause. It is asked of the document: each term of all values of its field. Where the
/// field has words, terms are made as those were; else a term stands for a whole value: with <c>exact()</c>, of ids,
/// and of fields of a static index that hold no words.
/// </summary>
/// <param name="fields">Says where fields stand.</param>
/// <param name="fullText">Makes conditions of words.</param>
/// <param name="condition">The condition.</param>
/// <param name="isExact">Whether letters count with their case.</param>
internal sealed class LucenePredicates(
    FieldResolver fields,
    IFullTextConditions fullText,
    LuceneCondition condition,
    bool isExact
)
{
    /// <summary>The condition that a clause means.</summary>
    /// <exception cref="QueryException">It names a field that cannot be asked, or is too large.</exception>
    public Predicate Make(LuceneClause clause) => TryMake(clause) ?? new ConstantPredicate(false);

    /// <summary>The same; null where no term is left of it: of one that is a stop word, say.</summary>
    private Predicate? TryMake(LuceneClause clause) =>
        clause switch
        {
            LuceneEvery => new ConstantPredicate(true),
            LuceneBoosted boosted => TryMake(boosted.Inner) is { } inner
                ? new BoostPredicate(inner, boosted.Factor)
                : null,
            LuceneBoolean boolean => TryMakeBoolean(boolean),
            LuceneLeaf leaf => TryMakeLeaf(leaf, FieldOf(leaf)),
            _ => throw new NotSupportedException(clause.GetType().Name),
        };

    private Predicate? TryMakeBoolean(LuceneBoolean boolean)
    {
        var made = boolean
            .Parts.Select(part => (part.Occur, Predicate: TryMake(part.Clause)))
            .Where(static part => part.Predicate is not null)
            .ToLookup(static part => part.Occur, static part => part.Predicate!);
        if (made.Count == 0)
        {
            return null;
        }

        Predicate[] should = [.. made[LuceneOccur.Should]];
        Predicate? any = should.Length > 1 ? new OrPredicate(should) : should.FirstOrDefault();
        List<Predicate> all = [.. made[LuceneOccur.Must]];
        if (any is not null)
        {
            all.Add(all.Count > 0 ? new OptionalPredicate(any) : any);
        }

        // As in Lucene, what only excludes finds nothing.
        if (all.Count == 0)
        {
            return new ConstantPredicate(false);
        }

        all.AddRange(made[LuceneOccur.MustNot].Select(static excluded => new NotPredicate(excluded)));
        return all.Count > 1 ? new AndPredicate([.. all]) : all[0];
    }

    private FieldReference FieldOf(LuceneLeaf leaf)
    {
        if (leaf.Field is not { } name)
        {
            return condition.Field;
        }

        // RavenDB's automatic indexes hold the field of the condition only; that of the prefix would be found nowhere.
        int position = condition.Clause.Position;
        return fields is RowFields
            ? new PathReference(
                new FieldPath([.. name.Split('.').Select(static step => new PathStep(step, false))], position)
            )
            : throw new QueryException(
                QueryFault.NotSupported,
                $"'{name}:' in a Lucene clause is not supported outside of static indexes: join several conditions.",
                position
            );
    }

    private Predicate? TryMakeLeaf(LuceneLeaf leaf, FieldReference field)
    {
        if (isExact || !fullText.HasWords(field))
        {
            return WholeValues(leaf, fields.Reader(field));
        }

        return fullText.Words(leaf, field, fields.Reader(field), condition.Clause.Position) is { } words
            ? new FullTextPredicate(words)
            : null;
    }

    private Predicate WholeValues(LuceneLeaf leaf, FieldReader reader) =>
        leaf switch
        {
            LucenePattern pattern => new TextPredicate(
                reader,
                new WildcardPattern(PatternOf(pattern.Text, TextOf)),
                isExact
            ),
            LuceneSimilar similar => new TextPredicate(
                reader,
                new SimilarPattern(new FuzzyText(TextOf(similar.Text), similar.Similarity, condition.Clause.Position)),
                isExact
            ),
            LuceneRange range => RangeOf(range) is { IsEmpty: false } keys
                ? new RangePredicate(reader, keys, isExact)
                : new ConstantPredicate(false),
            LuceneText text => new TermsPredicate(reader, new TermSet(ValuesOf(text.Text), isExact), isExact),
            _ => throw new NotSupportedException(leaf.GetType().Name),
        };

    private KeyRange RangeOf(LuceneRange range) =>
        new(KeyOf(range.Low), range.IsIncluded, KeyOf(range.High), range.IsIncluded);

    /// <summary>A pattern as bytes.</summary>
    /// <param name="pattern">With <see cref="LucenePattern"/>'s characters.</param>
    /// <param name="fold">Makes of a piece what texts are compared by.</param>
    internal static byte[] PatternOf(string pattern, Func<string, byte[]> fold)
    {
        var bytes = new List<byte>();
        for (int at = 0; at < pattern.Length; )
        {
            int length = pattern.AsSpan(at).IndexOfAny(LucenePattern.Many, LucenePattern.One);
            length = length < 0 ? pattern.Length - at : length;
            bytes.AddRange(length == 0 ? [] : fold(pattern.Substring(at, length)));
            at += length;
            if (at < pattern.Length)
            {
                bytes.Add(pattern[at++] == LucenePattern.Many ? WildcardPattern.Many : WildcardPattern.One);
            }
        }

        return [.. bytes];
    }

    private byte[] TextOf(string text)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        return isExact ? utf8 : ConditionCompiler.Fold(utf8);
    }

    private byte[]? KeyOf(string? text)
    {
        byte[] key = new byte[TermKey.MaxBytes];
        return text is null ? null : key[..TermKey.Write(OperandValues.Quote(text), isExact, key)];
    }

    /// <summary>A term means the text, and the number or boolean that is written so.</summary>
    private static List<byte[]> ValuesOf(string text)
    {
        List<byte[]> values = [OperandValues.Quote(text)];
        const NumberStyles Plain = NumberStyles.AllowLeadingSign | NumberStyles.AllowDecimalPoint;
        if (
            text is "true" or "false"
            || (double.TryParse(text, Plain, CultureInfo.InvariantCulture, out _) && IsJsonNumber(text))
        )
        {
            values.Add(Encoding.UTF8.GetBytes(text));
        }

        return values;
    }

    private static bool IsJsonNumber(string text)
    {
        var digits = text.AsSpan().TrimStart('-');
        return text.Length - digits.Length <= 1
            && char.IsAsciiDigit(digits[0])
            && char.IsAsciiDigit(digits[^1])
            && (digits is ['0'] or ['0', '.', ..] || digits[0] != '0');
    }
}

/// <summary>Holds always, and adds to the score where another condition holds.</summary>
internal sealed class OptionalPredicate(Predicate inner) : Predicate
{
    public Predicate Inner => inner;

    public override bool Matches(in QueriedDocument document, ScanWork work) => true;

    public override bool TryScore(in QueriedDocument document, ScanWork work, out double score)
    {
        inner.TryScore(document, work, out score);
        return true;
    }
}

/// <summary>Texts that are similar to one.</summary>
internal sealed class SimilarPattern(FuzzyText wanted) : TextPattern
{
    public override bool Matches(ReadOnlySpan<byte> text, ScanWork work) => wanted.Matches(text, work);
}
