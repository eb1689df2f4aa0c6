using System.Buffers;
using System.Globalization;
using System.Text;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>
/// The parameters of a URL's query string, read in place without allocation. Accepts the odd forms that clients send:
/// "?&amp;a=b", "a=b&amp;&amp;c=d", a trailing "?". Names are compared without case. A plus sign stands for itself, not
/// for a blank: RavenDB resolves percent escapes only, and its change vectors may contain a plus.
/// </summary>
internal readonly ref struct QueryParameters(ReadOnlySpan<char> query)
{
    private readonly ReadOnlySpan<char> _query = query is ['?', ..] ? query[1..] : query;

    public QueryParameters(HttpContext http)
        : this(http.Request.QueryString.Value) { }

    public Enumerator GetEnumerator() => new(_query);

    /// <summary>Finds the first parameter with this name; its value is still escaped.</summary>
    public bool TryGetEscaped(string name, out ReadOnlySpan<char> escaped)
    {
        foreach (var parameter in this)
        {
            if (parameter.Is(name))
            {
                escaped = parameter.Escaped;
                return true;
            }
        }

        escaped = default;
        return false;
    }

    /// <summary>Returns the first parameter with this name, unescaped; null if it is absent.</summary>
    public string? Text(string name) => TryGetEscaped(name, out var escaped) ? Unescape(name, escaped) : null;

    /// <summary>Returns the first parameter with this name, unescaped.</summary>
    /// <exception cref="RefusedException">The parameter is absent or empty: 400.</exception>
    public string RequiredText(string name) =>
        Text(name) is { Length: > 0 } text
            ? text
            : throw RefusedException.BadRequest($"The parameter '{name}' is missing in the query string.");

    /// <summary>
    /// Reads a whole number of zero or more; <paramref name="defaultValue"/> if it is absent or empty.
    /// </summary>
    public long Number(string name, long defaultValue)
    {
        if (!TryGetEscaped(name, out var escaped) || escaped.IsEmpty)
        {
            return defaultValue;
        }

        return long.TryParse(escaped, NumberStyles.None, CultureInfo.InvariantCulture, out long number)
            ? number
            : throw RefusedException.BadRequest(
                $"The parameter '{name}' must be a whole number from 0, not '{escaped}'."
            );
    }

    /// <summary>Reads a Boolean: true for "true"; false for "false", an empty value or an absent parameter.</summary>
    /// <exception cref="RefusedException">The value is something else: 400.</exception>
    public bool Flag(string name)
    {
        if (
            !TryGetEscaped(name, out var escaped)
            || escaped.IsEmpty
            || escaped.Equals("false", StringComparison.OrdinalIgnoreCase)
        )
        {
            return false;
        }

        return escaped.Equals("true", StringComparison.OrdinalIgnoreCase)
            ? true
            : throw RefusedException.BadRequest($"The parameter '{name}' must be true or false, not '{escaped}'.");
    }

    /// <summary>Writes an unescaped value as UTF-8.</summary>
    /// <returns>The bytes written, or -1 if <paramref name="destination"/> is too short or the result is not
    /// UTF-8.</returns>
    public static int Unescape(ReadOnlySpan<char> escaped, Span<byte> destination)
    {
        int written = 0;
        while (!escaped.IsEmpty)
        {
            int percent = escaped.IndexOf('%');
            var run = percent < 0 ? escaped : escaped[..percent];
            if (!Encoding.UTF8.TryGetBytes(run, destination[written..], out int runBytes))
            {
                return -1;
            }

            written += runBytes;
            if (percent < 0)
            {
                break;
            }

            escaped = escaped[percent..];
            if (written == destination.Length)
            {
                return -1;
            }

            // A percent sign without two hexadecimal digits stands for itself, as in RavenDB.
            bool isEscape =
                escaped.Length >= 3
                && byte.TryParse(
                    escaped.Slice(1, 2),
                    NumberStyles.AllowHexSpecifier,
                    CultureInfo.InvariantCulture,
                    out destination[written]
                );
            if (!isEscape)
            {
                destination[written] = (byte)'%';
            }

            written++;
            escaped = escaped[(isEscape ? 3 : 1)..];
        }

        return System.Text.Unicode.Utf8.IsValid(destination[..written]) ? written : -1;
    }

    private static string Unescape(string name, ReadOnlySpan<char> escaped)
    {
        byte[] bytes = ArrayPool<byte>.Shared.Rent(Encoding.UTF8.GetMaxByteCount(escaped.Length));
        try
        {
            int length = Unescape(escaped, bytes);
            return length >= 0
                ? Encoding.UTF8.GetString(bytes, 0, length)
                : throw RefusedException.BadRequest(
                    $"The parameter '{name}' is not UTF-8 after its percent escapes are resolved."
                );
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(bytes);
        }
    }

    /// <summary>One parameter, "name=value" or "name".</summary>
    public readonly ref struct Parameter(ReadOnlySpan<char> name, ReadOnlySpan<char> escaped, bool hasValue)
    {
        /// <summary>The value, still escaped; empty without an equals sign.</summary>
        public ReadOnlySpan<char> Escaped { get; } = escaped;

        /// <summary>The name as it was sent; names are never escaped.</summary>
        public ReadOnlySpan<char> Name { get; } = name;

        /// <summary>Whether an equals sign follows the name.</summary>
        public bool HasValue { get; } = hasValue;

        /// <summary>Whether the parameter has this name, compared without case.</summary>
        public bool Is(string name) => Name.Equals(name, StringComparison.OrdinalIgnoreCase);

        /// <summary>Returns the value, unescaped.</summary>
        public string Text() => Unescape(Name.ToString(), Escaped);
    }

    /// <summary>Enumerates the parameters and skips empty ones.</summary>
    public ref struct Enumerator(ReadOnlySpan<char> remaining)
    {
        private ReadOnlySpan<char> _remaining = remaining;
        private ReadOnlySpan<char> _pair;

        public readonly Parameter Current
        {
            get
            {
                int equals = _pair.IndexOf('=');
                return equals < 0
                    ? new Parameter(_pair, escaped: default, hasValue: false)
                    : new Parameter(_pair[..equals], _pair[(equals + 1)..], hasValue: true);
            }
        }

        public bool MoveNext()
        {
            while (!_remaining.IsEmpty)
            {
                int end = _remaining.IndexOf('&');
                _pair = end < 0 ? _remaining : _remaining[..end];
                _remaining = end < 0 ? default : _remaining[(end + 1)..];
                if (!_pair.IsEmpty)
                {
                    return true;
                }
            }

            return false;
        }
    }
}
