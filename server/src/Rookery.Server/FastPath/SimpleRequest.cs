using System.Buffers;
using System.Buffers.Text;
using System.Text;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http;
using Rookery.Documents.Ids;
using HttpMethod = Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpMethod;

namespace Rookery.Server.FastPath;

/// <summary>
/// Recognises <c>GET</c> and <c>PUT /databases/{name}/docs?id={id}</c>, and <c>POST</c> of <c>queries</c> and
/// <c>bulk_docs</c>, in the bytes of a connection, by Kestrel's own parser, and holds what the answer depends on. Any
/// other request, and any header, byte or form that is not listed here, is "not simple": Kestrel then parses the same
/// bytes again and answers in full. Not thread-safe; one for each connection.
/// </summary>
internal sealed class SimpleRequest
{
    /// <summary>
    /// A longer head is not simple. This and <see cref="MaxHeaders"/> are far below Kestrel's own limits.
    /// </summary>
    public const int MaxHeadBytes = 4 << 10;

    private const int MaxHeaders = 32;

    /// <summary>
    /// A longer body is not simple. Shorter bodies need no lease of memory (<c>LargeRequests</c>).
    /// </summary>
    public const int MaxBodyBytes = 16 << 10;

    private const int MaxTargetBytes = 1 << 10;
    private const int MaxDatabaseBytes = 128;
    private const int MaxHostBytes = 128;

    // A token with its scheme is shorter.
    private const int MaxAuthorizationBytes = 96;

    /// <summary>Maximum length of the tag of a document: its change vector in quotes.</summary>
    internal const int MaxTagBytes = ChangeVector.MaxBytes + 2;

    // Headers that change nothing in the answer, in lower case.
    private static readonly string[] Ignored =
    [
        "accept",
        "accept-encoding",
        "accept-language",
        "cache-control",
        "known-raft-index",
        "pragma",
        "raven-client-version",
        "sec-fetch-mode", // the guard reads it only with Sec-Fetch-Site or Referer, which are not simple
        "user-agent",
    ];

    private static readonly SearchValues<byte> DatabaseBytes = SearchValues.Create(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."u8
    );

    private static readonly SearchValues<byte> PlainIdBytes = SearchValues.Create(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~/:@!$'()*,;|+"u8
    );

    private static readonly SearchValues<byte> HostNameBytes = SearchValues.Create(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-."u8
    );

    private readonly HttpParser<Handler> _parser = new(showErrorDetails: false);
    private readonly byte[] _database = new byte[MaxDatabaseBytes];
    private readonly byte[] _target = new byte[MaxTargetBytes];
    private readonly byte[] _id = new byte[DocumentId.MaxBytes];
    private readonly byte[] _host = new byte[MaxHostBytes];
    private readonly byte[] _authorization = new byte[MaxAuthorizationBytes];
    private readonly byte[] _knownTag = new byte[MaxTagBytes];
    private string _databaseName = string.Empty;
    private int _databaseLength;
    private int _targetLength;
    private int _idLength;
    private int _headers;
    private int? _bodyLength;
    private int _hostLength;
    private int _authorizationLength;
    private int _knownTagLength;
    private bool _isSimple;

    /// <summary>What the request asks for.</summary>
    public SimpleRequestKind Kind { get; private set; }

    /// <summary>Whether the request changes documents.</summary>
    public bool IsWrite => Kind is SimpleRequestKind.PutDocument or SimpleRequestKind.Batch;

    /// <summary>Length of the body in bytes; 0 for a GET.</summary>
    public int BodyLength => _bodyLength ?? 0;

    /// <summary>The path with the query string, as it was sent.</summary>
    public ReadOnlySpan<byte> Target => _target.AsSpan(0, _targetLength);

    /// <summary>The name of the database, as it is in the URL.</summary>
    public string DatabaseName => _databaseName;

    /// <summary>The document id, unescaped and valid; empty for a POST.</summary>
    public ReadOnlySpan<byte> Id => _id.AsSpan(0, _idLength);

    /// <summary>The Host header: a name or an IPv4 address, with or without a port.</summary>
    public ReadOnlySpan<byte> Host => _host.AsSpan(0, _hostLength);

    /// <summary>The Authorization header; empty without one.</summary>
    public ReadOnlySpan<byte> Authorization => _authorization.AsSpan(0, _authorizationLength);

    /// <summary>The tag in If-None-Match with its quotes; empty without one.</summary>
    public ReadOnlySpan<byte> KnownTag => _knownTag.AsSpan(0, _knownTagLength);

    /// <summary>The etag of the topology that the client knows; null if it names none.</summary>
    public long? TopologyEtag { get; private set; }

    /// <summary>The etag of the client configuration that the client knows; null if it names none.</summary>
    public long? ClientConfigurationEtag { get; private set; }

    /// <summary>Parses the head of the request at the beginning of the buffer.</summary>
    /// <param name="buffer">Bytes of the connection.</param>
    /// <param name="end">Position after the head.</param>
    /// <returns>Whether the request is complete and simple.</returns>
    public bool TryParse(in ReadOnlySequence<byte> buffer, out SequencePosition end)
    {
        end = default;
        _targetLength = _idLength = _hostLength = _authorizationLength = _knownTagLength = 0;
        _headers = 0;
        _bodyLength = null;
        TopologyEtag = null;
        ClientConfigurationEtag = null;
        _isSimple = true;
        var head = new SequenceReader<byte>(buffer.Length > MaxHeadBytes ? buffer.Slice(0, MaxHeadBytes) : buffer);

        // Most other requests differ in the first letter.
        if (!head.TryPeek(out byte first) || first is not ((byte)'G' or (byte)'P'))
        {
            return false;
        }

        try
        {
            var handler = new Handler(this);
            if (!_parser.ParseRequestLine(handler, ref head) || !_isSimple || !_parser.ParseHeaders(handler, ref head))
            {
                return false;
            }
        }
        catch (BadHttpRequestException)
        {
            // Kestrel parses the same bytes and refuses them.
            return false;
        }

        end = head.Position;
        return _isSimple && _hostLength > 0 && HasHeadersOfMethod;
    }

    private bool HasHeadersOfMethod =>
        Kind switch
        {
            SimpleRequestKind.GetDocument => _bodyLength is null,
            SimpleRequestKind.Query => _bodyLength > 0,
            _ => _bodyLength > 0 && _knownTagLength == 0, // a write must not ignore If-None-Match
        };

    private void ReadTarget(ReadOnlySpan<byte> target)
    {
        ReadOnlySpan<byte> prefix = "/databases/"u8;
        if (target.Length > MaxTargetBytes || !target.StartsWith(prefix))
        {
            _isSimple = false;
            return;
        }

        target.CopyTo(_target);
        _targetLength = target.Length;
        target = target[prefix.Length..];
        int slash = target.IndexOf((byte)'/');
        if (slash <= 0)
        {
            _isSimple = false;
            return;
        }

        ReadDatabase(target[..slash]);
        ReadRoute(target[slash..]);
    }

    private void ReadRoute(ReadOnlySpan<byte> route)
    {
        if (Kind == SimpleRequestKind.Query)
        {
            ReadPostedRoute(route);
        }
        else if (TrySkip(ref route, "/docs?id="u8) || TrySkip(ref route, "/docs?&id="u8))
        {
            // The second form is that of RavenDB's clients.
            ReadId(route);
        }
        else
        {
            _isSimple = false;
        }
    }

    private void ReadPostedRoute(ReadOnlySpan<byte> route)
    {
        // RavenDB's clients of version 5 end the path with a question mark.
        if (route.SequenceEqual("/bulk_docs"u8) || route.SequenceEqual("/bulk_docs?"u8))
        {
            Kind = SimpleRequestKind.Batch;
        }
        else
        {
            _isSimple &= IsQueryRoute(route);
        }
    }

    // RavenDB's clients add parameters that change no answer.
    private static bool IsQueryRoute(ReadOnlySpan<byte> route)
    {
        if (!TrySkip(ref route, "/queries"u8))
        {
            return false;
        }

        if (TrySkip(ref route, "?queryHash="u8))
        {
            int end = route.IndexOfAnyExcept(DatabaseBytes);
            route = end < 0 ? [] : route[end..];
            TrySkip(ref route, "&addTimeSeriesNames=true"u8);
        }

        return route.IsEmpty;
    }

    private static bool TrySkip(ref ReadOnlySpan<byte> bytes, ReadOnlySpan<byte> start)
    {
        if (!bytes.StartsWith(start))
        {
            return false;
        }

        bytes = bytes[start.Length..];
        return true;
    }

    // Nearly all requests of a connection name the same database; then no text is allocated.
    private void ReadDatabase(ReadOnlySpan<byte> name)
    {
        if (name.SequenceEqual(_database.AsSpan(0, _databaseLength)))
        {
            return;
        }

        if (name.Length > MaxDatabaseBytes || name.ContainsAnyExcept(DatabaseBytes))
        {
            _isSimple = false;
            return;
        }

        name.CopyTo(_database);
        _databaseLength = name.Length;
        _databaseName = Encoding.ASCII.GetString(name);
    }

    private void ReadId(ReadOnlySpan<byte> escaped)
    {
        while (_isSimple && !escaped.IsEmpty)
        {
            int plain = escaped.IndexOfAnyExcept(PlainIdBytes);
            var run = plain < 0 ? escaped : escaped[..plain];
            if (run.Length > _id.Length - _idLength - 1)
            {
                _isSimple = false;
                return;
            }

            run.CopyTo(_id.AsSpan(_idLength));
            _idLength += run.Length;
            escaped = escaped[run.Length..];
            if (!escaped.IsEmpty)
            {
                ReadEscape(ref escaped);
            }
        }

        // A PUT generates the rest of an id that ends with '/' or '|', so such an id is not simple.
        _isSimple &= DocumentId.TryValidate(Id, out _) && Id[^1] is not ((byte)'/' or (byte)'|');
    }

    // Reads the escape of one printable ASCII character. An escape of another character is not simple.
    private void ReadEscape(ref ReadOnlySpan<byte> escaped)
    {
        const int EscapeLength = 3;
        if (
            escaped.Length < EscapeLength
            || escaped[0] != (byte)'%'
            || !Utf8Parser.TryParse(escaped[1..EscapeLength], out byte value, out int digits, 'x')
            || digits != EscapeLength - 1
            || value is < (byte)' ' or > (byte)'~'
        )
        {
            _isSimple = false;
            return;
        }

        _id[_idLength++] = value;
        escaped = escaped[EscapeLength..];
    }

    private void ReadHeader(ReadOnlySpan<byte> name, ReadOnlySpan<byte> value)
    {
        if (!_isSimple)
        {
            return;
        }

        // Kestrel refuses or decodes other bytes.
        if (++_headers > MaxHeaders || value.ContainsAnyExceptInRange((byte)' ', (byte)'~'))
        {
            _isSimple = false;
        }
        else if (Ascii.EqualsIgnoreCase(name, "host"u8))
        {
            ReadHost(value);
        }
        else if (Ascii.EqualsIgnoreCase(name, "content-length"u8))
        {
            ReadBodyLength(value);
        }
        else if (Ascii.EqualsIgnoreCase(name, "content-type"u8))
        {
            // A batch with attachments has several parts; other routes have one type of body.
            ReadOnlySpan<byte> parts = "multipart/"u8;
            _isSimple = value.Length < parts.Length || !Ascii.EqualsIgnoreCase(value[..parts.Length], parts);
        }
        else if (Ascii.EqualsIgnoreCase(name, "connection"u8))
        {
            _isSimple = Ascii.EqualsIgnoreCase(value, "keep-alive"u8);
        }
        else if (Ascii.EqualsIgnoreCase(name, "authorization"u8))
        {
            ReadAuthorization(value);
        }
        else if (Ascii.EqualsIgnoreCase(name, "if-none-match"u8))
        {
            ReadKnownTag(value);
        }
        else if (Ascii.EqualsIgnoreCase(name, "topology-etag"u8))
        {
            TopologyEtag = ReadEtag(value, TopologyEtag);
        }
        else if (Ascii.EqualsIgnoreCase(name, "client-configuration-etag"u8))
        {
            ClientConfigurationEtag = ReadEtag(value, ClientConfigurationEtag);
        }
        else
        {
            _isSimple = IsIgnored(name);
        }
    }

    private static bool IsIgnored(ReadOnlySpan<byte> name)
    {
        foreach (string ignored in Ignored)
        {
            if (Ascii.EqualsIgnoreCase(name, ignored))
            {
                return true;
            }
        }

        return false;
    }

    private void ReadHost(ReadOnlySpan<byte> value)
    {
        if (_hostLength > 0 || value.Length is 0 or > MaxHostBytes || !IsHost(value))
        {
            _isSimple = false;
            return;
        }

        value.CopyTo(_host);
        _hostLength = value.Length;
    }

    // A name or an IPv4 address, and a port. Kestrel checks the other forms.
    private static bool IsHost(ReadOnlySpan<byte> value)
    {
        int nameLength = value.IndexOfAnyExcept(HostNameBytes);
        if (nameLength < 0)
        {
            return true;
        }

        var port = value[(nameLength + 1)..];
        return nameLength > 0
            && value[nameLength] == (byte)':'
            && port.Length > 0
            && !port.ContainsAnyExceptInRange((byte)'0', (byte)'9');
    }

    private void ReadAuthorization(ReadOnlySpan<byte> value)
    {
        if (_authorizationLength > 0 || value.Length is 0 or > MaxAuthorizationBytes)
        {
            _isSimple = false;
            return;
        }

        value.CopyTo(_authorization);
        _authorizationLength = value.Length;
    }

    // One strong tag, as RavenDB's clients send it. Lists, weak tags and `*` are not simple.
    private void ReadKnownTag(ReadOnlySpan<byte> value)
    {
        const int QuotesLength = 2;
        if (
            _knownTagLength > 0
            || value.Length is <= QuotesLength or > MaxTagBytes
            || value is not [(byte)'"', .., (byte)'"']
            || value[1..^1].ContainsAny((byte)'"', (byte)',')
        )
        {
            _isSimple = false;
            return;
        }

        value.CopyTo(_knownTag);
        _knownTagLength = value.Length;
    }

    private void ReadBodyLength(ReadOnlySpan<byte> value)
    {
        if (
            _bodyLength is not null
            || !Utf8Parser.TryParse(value, out uint length, out int digits)
            || digits != value.Length
            || length > MaxBodyBytes
        )
        {
            _isSimple = false;
            return;
        }

        _bodyLength = (int)length;
    }

    private long? ReadEtag(ReadOnlySpan<byte> value, long? earlier)
    {
        value = value is [(byte)'"', .. var inner, (byte)'"'] ? inner : value;
        if (
            earlier is not null
            || !Utf8Parser.TryParse(value, out ulong etag, out int digits)
            || digits != value.Length
            || etag > long.MaxValue
        )
        {
            _isSimple = false;
            return null;
        }

        return (long)etag;
    }

    /// <summary>Receives the parser's calls. It is a structure, so that the calls are direct.</summary>
    private readonly struct Handler(SimpleRequest request) : IHttpRequestLineHandler, IHttpHeadersHandler
    {
        // A POST counts as a query until its target names another route.
        public void OnStartLine(
            HttpVersionAndMethod versionAndMethod,
            TargetOffsetPathLength targetPath,
            Span<byte> startLine
        )
        {
            if (versionAndMethod.Version != HttpVersion.Http11 || KindOf(versionAndMethod.Method) is not { } kind)
            {
                request._isSimple = false;
                return;
            }

            request.Kind = kind;
            request.ReadTarget(startLine[targetPath.Offset..]);
        }

        private static SimpleRequestKind? KindOf(HttpMethod method) =>
            method switch
            {
                HttpMethod.Get => SimpleRequestKind.GetDocument,
                HttpMethod.Put => SimpleRequestKind.PutDocument,
                HttpMethod.Post => SimpleRequestKind.Query,
                _ => null,
            };

        public void OnHeader(ReadOnlySpan<byte> name, ReadOnlySpan<byte> value) => request.ReadHeader(name, value);

        public void OnHeadersComplete(bool endStream) { }

        public void OnStaticIndexedHeader(int index) => throw new NotSupportedException();

        public void OnStaticIndexedHeader(int index, ReadOnlySpan<byte> value) => throw new NotSupportedException();
    }
}

/// <summary>The routes of simple requests.</summary>
internal enum SimpleRequestKind
{
    GetDocument,
    PutDocument,
    Query,
    Batch,
}
