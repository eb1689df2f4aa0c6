using System.Buffers;
using System.Text;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Search.Values;

namespace Rookery.Indexing.Values;

/// <summary>Who lets a scan go on.</summary>
public interface IScanClock
{
    /// <summary>
    /// Asked at least once for each MiB of JSON that conditions walked over. May wait, so that others get their turn.
    /// </summary>
    /// <exception cref="Exception">The time of the work is over: whoever gave the clock says which
    /// exception.</exception>
    void OnWork();
}

/// <summary>
/// What a scan needs while it looks at one document after the other: a meter of its work, and room for texts. For one
/// thread.
/// </summary>
/// <param name="clock">Is asked as the work goes on.</param>
public sealed class ScanWork(IScanClock clock)
{
    private const int StepBytes = 1024 * 1024;

    private readonly PooledBytes _text = new();
    private readonly PooledBytes _folded = new();
    private char[] _characters = [];
    private long _walkedBytes;

    /// <summary>Room for flags, one for each wanted term.</summary>
    public ulong[] Flags { get; private set; } = [];

    /// <summary>Counts work that is about to be done.</summary>
    /// <param name="bytes">Bytes of JSON.</param>
    public void Walk(int bytes)
    {
        _walkedBytes += bytes + 64; // an empty document takes time, too
        if (_walkedBytes >= StepBytes)
        {
            _walkedBytes = 0;
            clock.OnWork();
        }
    }

    /// <summary>Counts work that grows with the product of two lengths, which is about to be done.</summary>
    /// <param name="bytes">Bytes that are walked over.</param>
    /// <param name="times">Steps for each.</param>
    public void Walk(int bytes, int times) => Walk((int)Math.Min((long)bytes * times, StepBytes));

    /// <summary>Clears room for so many flags.</summary>
    public void ClearFlags(int count)
    {
        int words = (count + 63) / 64;
        if (Flags.Length < words)
        {
            Flags = new ulong[words];
        }

        Flags.AsSpan(0, words).Clear();
    }

    /// <summary>
    /// The text of a JSON string as conditions compare it: without case and dates in UTC, or exactly as it is.
    /// </summary>
    /// <param name="json">The string with its quotes.</param>
    /// <param name="isExact">Whether letters count with their case.</param>
    /// <returns>Valid until the next call.</returns>
    public ReadOnlySpan<byte> TextOf(ReadOnlySpan<byte> json, bool isExact)
    {
        ReadOnlySpan<byte> raw = json[1..^1];
        if (raw.Contains((byte)'\\'))
        {
            _text.Clear();
            _text.Advance(JsonText.Unescape(raw, _text.Reserve(raw.Length)));
            raw = _text.Written;
        }

        if (isExact)
        {
            _folded.Clear();
            _folded.Append(raw);
            return _folded.Written;
        }

        return Fold(raw);
    }

    /// <summary>A text as UTF-16.</summary>
    /// <returns>Valid until the next call.</returns>
    public ReadOnlySpan<char> CharactersOf(ReadOnlySpan<byte> utf8)
    {
        if (_characters.Length < utf8.Length)
        {
            ArrayPool<char>.Shared.Return(_characters);
            _characters = ArrayPool<char>.Shared.Rent(utf8.Length);
        }

        return _characters.AsSpan(0, Encoding.UTF8.GetChars(utf8, _characters));
    }

    /// <summary>Gives its room back.</summary>
    public void Release()
    {
        _text.Release();
        _folded.Release();
        ArrayPool<char>.Shared.Return(_characters);
        _characters = [];
    }

    private ReadOnlySpan<byte> Fold(ReadOnlySpan<byte> raw)
    {
        _folded.Clear();
        Span<byte> room = _folded.Reserve(Math.Max(TextFolding.MaxBytes(raw.Length), WireDate.Length));
        _folded.Advance(DateText.TryWrite(raw, room) ? DateText.Length : TextFolding.FoldAll(raw, room));
        return _folded.Written;
    }
}
