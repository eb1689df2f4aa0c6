using System.Buffers;

namespace Rookery.Transfer;

/// <summary>
/// Copies JSON to one line and leaves its other bytes unchanged, so that the node sees what is invalid.
/// </summary>
internal sealed class OneLine
{
    private readonly ArrayBufferWriter<byte> _line = new();

    /// <summary>Replaces newlines with spaces: in JSON they occur only between tokens.</summary>
    /// <param name="json">A JSON value.</param>
    /// <returns>The line, valid until the next call.</returns>
    public ReadOnlyMemory<byte> Of(ReadOnlySpan<byte> json)
    {
        _line.ResetWrittenCount();
        var line = _line.GetSpan(json.Length)[..json.Length];
        json.CopyTo(line);
        line.Replace((byte)'\n', (byte)' ');
        line.Replace((byte)'\r', (byte)' ');
        _line.Advance(json.Length);
        return _line.WrittenMemory;
    }
}
