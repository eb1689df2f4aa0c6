using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Patching;

/// <summary>
/// Applies merge patches (RFC 7396) to UTF-8 bytes. The target's members keep their order and bytes; new members follow
/// in the patch's order. Target and patch must be valid and minified.
/// </summary>
internal sealed class MergePatch
{
    private readonly ObjectKeys _keys = new();
    private readonly List<PatchValue> _values = [];

    /// <summary>Applies a patch value to a target value.</summary>
    public void Apply(ReadOnlySpan<byte> target, ReadOnlySpan<byte> patch, PooledBytes output)
    {
        _keys.Reset();
        _values.Clear();
        WriteMerged(target, targetAt: 0, patch, patchAt: 0, output);
    }

    /// <summary>Applies a patch's members to a target's members, both without braces.</summary>
    public void ApplyMembers(ReadOnlySpan<byte> target, ReadOnlySpan<byte> patch, PooledBytes output)
    {
        _keys.Reset();
        _values.Clear();
        MergeMembers(target, targetAt: 0, patch, patchAt: 0, output);
    }

    /// <summary>Merges recursively, as RFC 7396 section 2 defines; values nest at most 128 levels deep.</summary>
    private void WriteMerged(
        ReadOnlySpan<byte> target,
        int targetAt,
        ReadOnlySpan<byte> patch,
        int patchAt,
        PooledBytes output
    )
    {
        if (patch[patchAt] != (byte)'{')
        {
            output.Append(patch[patchAt..StoredJson.SkipValue(patch, patchAt)]);
            return;
        }

        bool isObject = targetAt < target.Length && target[targetAt] == (byte)'{';
        output.Append((byte)'{');
        MergeMembers(isObject ? target : default, isObject ? targetAt + 1 : 0, patch, patchAt + 1, output);
        output.Append((byte)'}');
    }

    private void MergeMembers(
        ReadOnlySpan<byte> target,
        int targetAt,
        ReadOnlySpan<byte> patch,
        int patchAt,
        PooledBytes output
    )
    {
        int firstValue = _values.Count;
        _keys.Open();
        while (StoredJson.TryReadMember(patch, ref patchAt, out JsonSlice name, out int valueStart))
        {
            // The parser refuses duplicate names. A duplicate would shift the positions of all later values.
            bool isNew = _keys.TryAdd(patch, name);
            Invariant.Holds(isNew, "an object of a merge patch has no duplicate names");
            _values.Add(new PatchValue(name.Start - 1, valueStart, patchAt, IsUsed: false));
        }

        bool first = true;
        while (StoredJson.TryReadMember(target, ref targetAt, out JsonSlice name, out int valueStart))
        {
            int position = _keys.Find(patch, target, name);
            if (position < 0)
            {
                Separate(output, ref first);
                output.Append(target[(name.Start - 1)..targetAt]);
                continue;
            }

            PatchValue value = _values[firstValue + position];
            _values[firstValue + position] = value with { IsUsed = true };
            if (!IsNull(patch, value))
            {
                Separate(output, ref first);
                output.Append(target[(name.Start - 1)..valueStart]);
                WriteMerged(target, valueStart, patch, value.Start, output);
            }
        }

        for (int index = firstValue; index < firstValue + _keys.FrameLength; index++)
        {
            PatchValue value = _values[index];
            if (!value.IsUsed && !IsNull(patch, value))
            {
                Separate(output, ref first);
                output.Append(patch[value.NameQuote..value.Start]);
                WriteMerged(target: default, targetAt: 0, patch, value.Start, output);
            }
        }

        _values.RemoveRange(firstValue, _values.Count - firstValue);
        _keys.Close();
    }

    private static bool IsNull(ReadOnlySpan<byte> patch, PatchValue value) =>
        patch[value.Start..value.End].SequenceEqual("null"u8);

    private static void Separate(PooledBytes output, ref bool first)
    {
        if (!first)
        {
            output.Append((byte)',');
        }

        first = false;
    }

    /// <summary>Offsets of a patch member: the quote before its name, and the start and end of its value.</summary>
    private readonly record struct PatchValue(int NameQuote, int Start, int End, bool IsUsed);
}
