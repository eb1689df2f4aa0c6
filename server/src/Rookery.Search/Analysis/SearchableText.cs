using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Search.Analysis;

/// <summary>
/// The text of JSON values as full text sees it: strings without escapes, numbers and booleans as they are written;
/// null and objects have none. For one thread.
/// </summary>
public sealed class SearchableText
{
    private readonly PooledBytes _unescaped = new();

    /// <summary>The text of a value.</summary>
    /// <param name="json">The value as it is stored.</param>
    /// <returns>Valid until the next call; empty when it has none.</returns>
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

    /// <summary>Gives its room back.</summary>
    public void Release() => _unescaped.Release();
}
