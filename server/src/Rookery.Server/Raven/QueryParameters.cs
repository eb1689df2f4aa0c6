using System.Buffers;
using System.Globalization;
using System.Text;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>
/// The parameters of a URL, read in place and without allocation. Tolerates what clients send: "?&amp;a=b",
/// "a=b&amp;&amp;c=d", a dangling "?". Names are compared without case; a plus sign is a plus sign (RavenDB unescapes
/// by percent signs only, and its change vectors may contain it).
/// </summary>
internal readonly ref struct QueryParameters(ReadOnlySpan<char> query)
{
    private readonly ReadOnlySpan<char> _query = query is ['?', ..] ? query[1..] : query;

    public QueryParameters(HttpContext http)
        : this(http.Request.QueryString.Value) { }

    public Enumerator GetEnumerator() => new(_query);

    /// <summary>The first parameter of this name, still escaped.</summary>
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

    /// <summary>The first parameter of this name, unescaped; null when it is absent.</summary>
    public string? Text(string name) => TryGetEscaped(name, out var escaped) ? Unescape(name, escaped) : null;

    /// <summary>The first parameter of this name, unescaped.</summary>
    /// <exception cref="RefusedException">It is absent or empty.</exception>
    public string RequiredText(string name) =>
        Text(name) is { Length: > 0 } text
            ? text
            : throw RefusedException.BadRequest($"The parameter '{name}' is missing in the query string.");

    /// <summary>A whole number, at least 0.</summary>
    public long Number(string name, long otherwise)
    {
        if (!TryGetEscaped(name, out var escaped) || escaped.IsEmpty)
        {
            return otherwise;
        }

        return long.TryParse(escaped, NumberStyles.None, CultureInfo.InvariantCulture, out long number)
            ? number
            : throw RefusedException.BadRequest(
                $"The parameter '{name}' must be a whole number from 0, not '{escaped}'."
            );
    }

    /// <summary>True when the parameter says "true"; false when it says "false" or nothing.</summary>
    /// <exception cref="RefusedException">It says something else.</exception>
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

    /// <summary>Unescapes a value into UTF-8.</summary>
    /// <returns>The bytes written, or -1 when <paramref name="destination"/> is too short or the escapes are not
    /// UTF-8.</returns>
    public static int Unescape(ReadOnlySpan<char> escaped, Span<byte> destination)
    {
        int written = 0;
        while (!escaped.IsEmpty)
        {
            int plain = escaped.IndexOf('%');
            var run = plain < 0 ? escaped : escaped[..plain];
            if (!Encoding.UTF8.TryGetBytes(run, destination[written..], out int runBytes))
            {
                return -1;
            }

            written += runBytes;
            if (plain < 0)
            {
                break;
            }

            escaped = escaped[plain..];
            if (written == destination.Length)
            {
                return -1;
            }

            // A percent sign that begins no escape stands for itself, as in RavenDB.
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

    /// <summary>One "name=value".</summary>
    public readonly ref struct Parameter(ReadOnlySpan<char> name, ReadOnlySpan<char> escaped, bool hasValue)
    {
        public ReadOnlySpan<char> Escaped { get; } = escaped;

        /// <summary>The name as it came; names are not escaped.</summary>
        public ReadOnlySpan<char> Name { get; } = name;

        /// <summary>Whether an equals sign follows the name.</summary>
        public bool HasValue { get; } = hasValue;

        public bool Is(string name) => Name.Equals(name, StringComparison.OrdinalIgnoreCase);

        /// <summary>The value, unescaped.</summary>
        public string Text() => Unescape(Name.ToString(), Escaped);
    }

    /// <summary>Walks over the parameters.</summary>
    public ref struct Enumerator(ReadOnlySpan<char> rest)
    {
        private ReadOnlySpan<char> _rest = rest;
        private ReadOnlySpan<char> _pair;

        public readonly Parameter Current
        {
            get
            {
                int equals = _pair.IndexOf('=');
                return equals < 0
                    ? new Parameter(_pair, default, hasValue: false)
                    : new Parameter(_pair[..equals], _pair[(equals + 1)..], hasValue: true);
            }
        }

        public bool MoveNext()
        {
            while (!_rest.IsEmpty)
            {
                int end = _rest.IndexOf('&');
                _pair = end < 0 ? _rest : _rest[..end];
                _rest = end < 0 ? default : _rest[(end + 1)..];
                if (!_pair.IsEmpty)
                {
                    return true;
                }
            }

            return false;
        }
    }
}
