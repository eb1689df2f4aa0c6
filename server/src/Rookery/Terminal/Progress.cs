using System.Text;
using Rookery.Platform;

namespace Rookery.Terminal;

/// <summary>
/// Shows the progress of long work on stderr: one line that is redrawn on a terminal, otherwise a line every ten
/// seconds.
/// </summary>
/// <param name="itemName">The items counted besides bytes, in the plural, such as "documents"; null for bytes
/// only.</param>
/// <param name="time">The clock.</param>
internal sealed class Progress(string? itemName, TimeProvider time) : IDisposable
{
    private const int BarWidth = 24;
    private static readonly TimeSpan DrawingPeriod = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan LinePeriod = TimeSpan.FromSeconds(10);

    private readonly bool _redraws = Tty.CanRedraw;
    private readonly ProgressEstimate _bytes = new(time);
    private readonly ProgressEstimate _items = new(time);
    private long _shownAt = time.GetTimestamp();
    private bool _isDrawn;
    private volatile bool _hasEnded;

    /// <summary>The total number of bytes; null if unknown.</summary>
    public long? TotalBytes
    {
        get => (long?)_bytes.Total;
        set => _bytes.Total = value;
    }

    /// <summary>The total number of items; null if unknown.</summary>
    public long? TotalItems
    {
        get => (long?)_items.Total;
        set => _items.Total = value;
    }

    /// <summary>The number of items done.</summary>
    public long Items => (long)_items.Done;

    /// <summary>Starts at a number of items and bytes that were done earlier.</summary>
    public void BeginAt(long items, long bytes)
    {
        _items.BeginAt(items);
        _bytes.BeginAt(bytes);
    }

    /// <summary>Reports the items and bytes done so far.</summary>
    public void Report(long items, long bytes)
    {
        _items.Report(items);
        _bytes.Report(bytes);
        var period = _redraws ? DrawingPeriod : LinePeriod;
        if (_hasEnded || time.GetElapsedTime(_shownAt) < period)
        {
            return;
        }

        _shownAt = time.GetTimestamp();
        if (_redraws)
        {
            Messages.Draw($"\r\u001b[K{Table.Cut(Format(), Tty.Size().Width - 1)}");
            _isDrawn = true;
        }
        else
        {
            Console.Error.WriteLine(Format());
        }
    }

    /// <summary>Prints a message between the progress lines.</summary>
    public void Say(string sentence)
    {
        Clear();
        Console.Error.WriteLine(sentence);
    }

    /// <summary>Erases the progress line.</summary>
    public void Clear()
    {
        if (_isDrawn)
        {
            Messages.Draw("\r\u001b[K");
            _isDrawn = false;
        }
    }

    /// <summary>Erases the progress line and draws no more.</summary>
    public void End()
    {
        _hasEnded = true;
        Clear();
    }

    public void Dispose() => End();

    private string Format()
    {
        var text = new StringBuilder();
        if ((_bytes.Share ?? _items.Share) is { } share)
        {
            if (_redraws)
            {
                int full = (int)(share * BarWidth);
                text.Append('[').Append('=', full).Append(' ', BarWidth - full).Append("] ");
            }

            text.Append($"{share * 100, 3:0} %, ");
        }

        if (itemName is not null)
        {
            text.Append($"{Amount.Number(_items.Done)} {itemName}, {Amount.Number(Math.Round(_items.PerSecond))}/s");
        }

        if (_bytes.Done > 0)
        {
            text.Append(itemName is null ? Amount.Bytes(_bytes.Done) : string.Empty)
                .Append($", {Amount.Bytes(_bytes.PerSecond)}/s");
        }

        return (_bytes.Left ?? _items.Left) is { } left
            ? text.Append($", {Amount.Time(left)} left").ToString()
            : text.ToString();
    }
}
