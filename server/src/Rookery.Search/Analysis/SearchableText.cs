using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Search.Analysis;

/// <summary>
/// Converts JSON values to the text that full-text search reads: strings without escapes, numbers and booleans as
/// written. Null and objects have no text. Not thread-safe.
/// </summary>
public sealed class SearchableText
{
    private readonly PooledBytes _unescaped = new();

    /// <summary>Returns the text of a value.</summary>
    /// <param name="json">The stored JSON of the value.</param>
    /// <returns>The text, valid until the next call; empty if the value has none.</returns>
    public ReadOnlySpan<byte> Of(ReadOnlySpan<byte> json)
    {
        if (json[0] is (byte)'{' or (byte)'n')
        {
            return [];
        }

        var text = json[0] is (byte)'"' ? json[1..^1] : json;
        if (!text.Contains((byte)'\\'))
        {
            return text;
        }

        _unescaped.Clear();
        _unescaped.Advance(JsonText.Unescape(text, _unescaped.Reserve(text.Length)));
        return _unescaped.Written;
    }

    /// <summary>Releases the buffer.</summary>
    public void Release() => _unescaped.Release();
}
