using Rookery.Search.Values;

namespace Rookery.Queries.Conditions;

/// <summary>
/// Keys between two others. Without one of them it ends where the kind of the other does; without both it holds all
/// values but null.
/// </summary>
/// <param name="Low">The least, or null.</param>
/// <param name="IsLowIncluded">Whether the least belongs to it.</param>
/// <param name="High">The greatest, or null.</param>
/// <param name="IsHighIncluded">Whether the greatest belongs to it.</param>
public sealed record KeyRange(byte[]? Low, bool IsLowIncluded, byte[]? High, bool IsHighIncluded)
{
    /// <summary>Whether no key can be in it: its ends are of different kinds, or cross.</summary>
    public bool IsEmpty =>
        Low is not null
        && High is not null
        && (
            TermKey.KindOf(Low) != TermKey.KindOf(High)
            || Low.AsSpan().SequenceCompareTo(High) is var order
                && (order > 0 || (order == 0 && !(IsLowIncluded && IsHighIncluded)))
        );

    /// <summary>Whether a key is in it.</summary>
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
