using System.Buffers.Text;
using System.IO.Pipelines;
using System.Text;

namespace Rookery.Server.FastPath;

/// <summary>
/// Writes one response into the memory of a pipe. The pipe receives the whole response in <see cref="End"/>: after an
/// earlier failure, the pipe is unchanged.
/// </summary>
internal ref struct ResponseHead
{
    // The head of every response here is shorter.
    private const int MaxBytes = 512;

    private static readonly byte[] LastLines = Encoding.ASCII.GetBytes(
        $"Raven-Server-Version: {RequestGate.RavenVersion}\r\nX-Content-Type-Options: nosniff\r\n\r\n"
    );

    private readonly PipeWriter _output;
    private readonly Span<byte> _bytes;
    private int _length;

    /// <summary>Begins a response with its status line, such as <c>200 OK</c>.</summary>
    /// <param name="output">The pipe.</param>
    /// <param name="status">Status code and reason.</param>
    /// <param name="bodyLength">Length of the body in bytes.</param>
    public ResponseHead(PipeWriter output, scoped ReadOnlySpan<byte> status, int bodyLength)
    {
        _output = output;
        _bytes = output.GetSpan(MaxBytes + bodyLength);
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

    /// <summary>Adds a header.</summary>
    /// <param name="name">The name with colon and blank.</param>
    /// <param name="value">The value.</param>
    public void Add(scoped ReadOnlySpan<byte> name, scoped ReadOnlySpan<byte> value)
    {
        Append(name);
        Append(value);
        Append("\r\n"u8);
    }

    /// <summary>Adds the headers of every response and the body, and hands the response to the pipe.</summary>
    /// <param name="date">The Date header with its line break.</param>
    /// <param name="body">The body.</param>
    /// <returns>Length of the response in bytes.</returns>
    public int End(scoped ReadOnlySpan<byte> date, scoped ReadOnlySpan<byte> body)
    {
        Append(date);
        Append(LastLines);
        Append(body);
        _output.Advance(_length);
        return _length;
    }

    private void Append(scoped ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(_bytes[_length..]);
        _length += bytes.Length;
    }
}
