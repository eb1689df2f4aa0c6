using System.Buffers;

namespace Rookery.Json;

/// <summary>
/// Reads JSON that was validated when it was stored. Checks nothing, and expects no whitespace between tokens.
/// </summary>
public static class StoredJson
{
    private static readonly SearchValues<byte> Structure = SearchValues.Create("\"{}[]"u8);
    private static readonly SearchValues<byte> EndOfScalar = SearchValues.Create(",]}"u8);

    /// <summary>Returns the offset after the value at <paramref name="at"/>.</summary>
    public static int SkipValue(ReadOnlySpan<byte> json, int at)
    {
        switch (json[at])
        {
            case (byte)'"':
                return JsonText.SkipString(json, at);
            case (byte)'{' or (byte)'[':
                return SkipContainer(json, at, out _);
            default:
                int length = json[at..].IndexOfAny(EndOfScalar);
                return length < 0 ? json.Length : at + length;
        }
    }

    /// <summary>Returns the number of nested levels of the container at <paramref name="at"/>.</summary>
    public static int Depth(ReadOnlySpan<byte> json, int at)
    {
        SkipContainer(json, at, out int deepest);
        return deepest;
    }

    /// <summary>Reads the member at <paramref name="at"/>, after a comma if there is one.</summary>
    /// <param name="json">The text. The members end at its end or at a closing brace.</param>
    /// <param name="at">The offset of the member or its comma; set to the offset after its value.</param>
    /// <param name="name">The name of the member.</param>
    /// <param name="valueStart">The offset of the value.</param>
    /// <returns>False when there are no more members.</returns>
    public static bool TryReadMember(ReadOnlySpan<byte> json, ref int at, out JsonSlice name, out int valueStart)
    {
        name = default;
        valueStart = 0;
        if (at < json.Length && json[at] == (byte)',')
        {
            at++;
        }

        if (at >= json.Length || json[at] == (byte)'}')
        {
            return false;
        }

        int nameEnd = JsonText.SkipString(json, at);
        ReadOnlySpan<byte> raw = json[(at + 1)..(nameEnd - 1)];
        name = new JsonSlice(at + 1, raw.Length, raw.Contains((byte)'\\'));
        valueStart = nameEnd + 1;
        at = SkipValue(json, valueStart);
        return true;
    }

    /// <summary>Finds a member by name.</summary>
    /// <param name="json">The text.</param>
    /// <param name="container">
    /// The offset of the object's opening brace; -1 if the text has the members without braces.
    /// </param>
    /// <param name="text">The name, with escapes resolved.</param>
    /// <param name="member">The range from the name's opening quote to the end of the value.</param>
    /// <param name="valueStart">The offset of the value.</param>
    public static bool TryFindMember(
        ReadOnlySpan<byte> json,
        int container,
        ReadOnlySpan<byte> text,
        out Range member,
        out int valueStart
    )
    {
        int at = container + 1;
        while (TryReadMember(json, ref at, out JsonSlice name, out valueStart))
        {
            ReadOnlySpan<byte> raw = json.Slice(name.Start, name.Length);
            if (name.Escaped ? JsonText.IsText(raw, text) : raw.SequenceEqual(text))
            {
                member = (name.Start - 1)..at;
                return true;
            }
        }

        member = default;
        return false;
    }

    /// <summary>Finds an element by index, counting the elements before it.</summary>
    /// <param name="json">The text.</param>
    /// <param name="container">The offset of the array's opening bracket.</param>
    /// <param name="index">The index of the element.</param>
    /// <param name="element">The range of the element.</param>
    /// <param name="count">Number of elements before it; if it does not exist, the number of all elements.</param>
    public static bool TryFindElement(
        ReadOnlySpan<byte> json,
        int container,
        long index,
        out Range element,
        out int count
    )
    {
        int at = container + 1;
        for (count = 0; json[at] != (byte)']'; count++)
        {
            at = json[at] == (byte)',' ? at + 1 : at;
            int end = SkipValue(json, at);
            if (count == index)
            {
                element = at..end;
                return true;
            }

            at = end;
        }

        element = default;
        return false;
    }

    private static int SkipContainer(ReadOnlySpan<byte> json, int at, out int deepest)
    {
        int depth = 0;
        deepest = 0;
        while (true)
        {
            at += json[at..].IndexOfAny(Structure);
            switch (json[at])
            {
                case (byte)'"':
                    at = JsonText.SkipString(json, at);
                    continue;
                case (byte)'{' or (byte)'[':
                    depth++;
                    deepest = Math.Max(deepest, depth);
                    break;
                default:
                    depth--;
                    if (depth == 0)
                    {
                        return at + 1;
                    }

                    break;
            }

            at++;
        }
    }
}
