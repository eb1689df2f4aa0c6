using System.Buffers;

namespace Rookery.Json;

/// <summary>Walks over JSON that was validated and minimised when it was stored: no checks, no whitespace.</summary>
public static class StoredJson
{
    private static readonly SearchValues<byte> Structure = SearchValues.Create("\"{}[]"u8);
    private static readonly SearchValues<byte> EndOfScalar = SearchValues.Create(",]}"u8);

    /// <summary>The index behind the value at <paramref name="at"/>.</summary>
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

    /// <summary>Levels of objects and arrays of the container at <paramref name="at"/>.</summary>
    public static int Depth(ReadOnlySpan<byte> json, int at)
    {
        SkipContainer(json, at, out int deepest);
        return deepest;
    }

    /// <summary>Reads the member at <paramref name="at"/>, where a comma before it is passed.</summary>
    /// <param name="json">The text; the members end with it or with a closing brace.</param>
    /// <param name="at">Where a member may begin; afterwards behind its value.</param>
    /// <param name="name">Its name.</param>
    /// <param name="valueStart">Its value.</param>
    /// <returns>False when the members end here.</returns>
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
    /// <param name="container">The object's opening brace.</param>
    /// <param name="text">The name, escapes resolved.</param>
    /// <param name="member">From the name's quote to behind the value.</param>
    /// <param name="valueStart">The value.</param>
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

    /// <summary>Finds an element by index; counts them on the way.</summary>
    /// <param name="json">The text.</param>
    /// <param name="container">The array's opening bracket.</param>
    /// <param name="index">Which element.</param>
    /// <param name="element">The element.</param>
    /// <param name="count">Elements passed; all of them when there is no such one.</param>
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
                    deepest = Math.Max(deepest, ++depth);
                    break;
                default:
                    if (--depth == 0)
                    {
                        return at + 1;
                    }

                    break;
            }

            at++;
        }
    }
}
