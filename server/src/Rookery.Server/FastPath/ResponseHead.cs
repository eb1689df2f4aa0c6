using System.Buffers.Text;
using System.IO.Pipelines;

namespace Rookery.Server.FastPath;

/// <summary>Writes status line and headers of a response into the memory of a pipe.</summary>
internal ref struct ResponseHead
{
    // More than the head of any response here takes.
    private const int MaxBytes = 512;

    private readonly PipeWriter _output;
    private readonly Span<byte> _bytes;
    private int _length;

    /// <summary>Begins a head with its status line, such as <c>200 OK</c>.</summary>
    public ResponseHead(PipeWriter output, scoped ReadOnlySpan<byte> status)
    {
        _output = output;
        _bytes = output.GetSpan(MaxBytes);
        Append("HTTP/1.1 "u8);
        Append(status);
        Append("\r\n"u8);
    }

    /// <summary>Adds the type and length of a JSON body.</summary>
    public void AddJson(int bytes)
    {
        AddLength(bytes);
        Append("Content-Type: application/json; charset=utf-8\r\n"u8);
    }

    /// <summary>Adds the length of the body.</summary>
    public void AddLength(int bytes)
    {
        Append("Content-Length: "u8);
        Utf8Formatter.TryFormat(bytes, _bytes[_length..], out int digits);
        _length += digits;
        Append("\r\n"u8);
    }

    /// <summary>Adds an ETag.</summary>
    /// <param name="tag">The tag with its quotes.</param>
    public void AddTag(scoped ReadOnlySpan<byte> tag)
    {
        Append("ETag: "u8);
        Append(tag);
        Append("\r\n"u8);
    }

    /// <summary>Adds what every response has and ends the head.</summary>
    /// <param name="date">The Date header with its line break.</param>
    /// <returns>Length of the head in bytes.</returns>
    public int End(scoped ReadOnlySpan<byte> date)
    {
        Append(date);
        Append("Raven-Server-Version: 7.2.0.0\r\n\r\n"u8);
        _output.Advance(_length);
        return _length;
    }

    private void Append(scoped ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(_bytes[_length..]);
        _length += bytes.Length;
    }
}
