using Rookery.Search.Values;

namespace Rookery.Queries.Conditions;

/// <summary>
/// A range of keys. A range with a bound includes only keys of the bound's kind (text, number …). A range without
/// bounds includes all keys except null.
/// </summary>
/// <param name="Low">The lower bound; null for none.</param>
/// <param name="IsLowIncluded">Whether the lower bound is included.</param>
/// <param name="High">The upper bound; null for none.</param>
/// <param name="IsHighIncluded">Whether the upper bound is included.</param>
public sealed record KeyRange(byte[]? Low, bool IsLowIncluded, byte[]? High, bool IsHighIncluded)
{
    /// <summary>
    /// Whether no key is in the range, because its bounds are of different kinds or in the wrong order.
    /// </summary>
    public bool IsEmpty
    {
        get
        {
            if (Low is null || High is null)
            {
                return false;
            }

            int order = Low.AsSpan().SequenceCompareTo(High);
            bool areOrdered = order < 0 || (order == 0 && IsLowIncluded && IsHighIncluded);
            return TermKey.KindOf(Low) != TermKey.KindOf(High) || !areOrdered;
        }
    }

    /// <summary>Returns whether a key is in the range.</summary>
    public bool Contains(ReadOnlySpan<byte> key)
    {
        ValueKind kind = TermKey.KindOf(key);
        if (Low is null && High is null)
        {
            return kind != ValueKind.Null;
        }

        return IsAtOrAboveLow(key, kind) && IsAtOrBelowHigh(key, kind);
    }

    private bool IsAtOrAboveLow(ReadOnlySpan<byte> key, ValueKind kind)
    {
        if (Low is null)
        {
            return true;
        }

        int order = key.SequenceCompareTo(Low);
        return kind == TermKey.KindOf(Low) && (order > 0 || (order == 0 && IsLowIncluded));
    }

    private bool IsAtOrBelowHigh(ReadOnlySpan<byte> key, ValueKind kind)
    {
        if (High is null)
        {
            return true;
        }

        int order = key.SequenceCompareTo(High);
        return kind == TermKey.KindOf(High) && (order < 0 || (order == 0 && IsHighIncluded));
    }
}
