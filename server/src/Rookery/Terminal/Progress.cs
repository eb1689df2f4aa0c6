using System.Text;
using Rookery.Platform;

namespace Rookery.Terminal;

/// <summary>
/// How far long work is, on stderr: one line that is drawn again on a terminal, a line now and then elsewhere.
/// </summary>
/// <param name="what">What is counted beside bytes, in the plural: "documents"; null where nothing is.</param>
/// <param name="time">The clock.</param>
internal sealed class Progress(string? what, TimeProvider time) : IDisposable
{
    private const int BarWidth = 24;
    private static readonly TimeSpan DrawingPeriod = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan TellingPeriod = TimeSpan.FromSeconds(10);

    private readonly bool _redraws = Tty.CanRedraw;
    private readonly ProgressEstimate _bytes = new(time);
    private readonly ProgressEstimate _items = new(time);
    private long _shownAt = time.GetTimestamp();
    private bool _isDrawn;
    private volatile bool _hasEnded;

    /// <summary>How many bytes there are to go through; null when nobody knows.</summary>
    public long? TotalBytes
    {
        get => (long?)_bytes.Total;
        set => _bytes.Total = value;
    }

    /// <summary>How many items there are to go through; null when nobody knows.</summary>
    public long? TotalItems
    {
        get => (long?)_items.Total;
        set => _items.Total = value;
    }

    /// <summary>How many are done.</summary>
    public long Items => (long)_items.Done;

    /// <summary>Goes on behind what was done earlier.</summary>
    public void BeginAt(long items, long bytes)
    {
        _items.BeginAt(items);
        _bytes.BeginAt(bytes);
    }

    /// <summary>Says how far it is by now.</summary>
    public void Report(long items, long bytes)
    {
        _items.Report(items);
        _bytes.Report(bytes);
        if (_hasEnded || time.GetElapsedTime(_shownAt) < (_redraws ? DrawingPeriod : TellingPeriod))
        {
            return;
        }

        _shownAt = time.GetTimestamp();
        if (_redraws)
        {
            Messages.Draw($"\r\u001b[K{Table.Cut(Text(), Tty.Size().Width - 1)}");
            _isDrawn = true;
        }
        else
        {
            Console.Error.WriteLine(Text());
        }
    }

    /// <summary>Says something else meanwhile.</summary>
    public void Say(string sentence)
    {
        Clear();
        Console.Error.WriteLine(sentence);
    }

    /// <summary>Takes the line away.</summary>
    public void Clear()
    {
        if (_isDrawn)
        {
            Messages.Draw("\r\u001b[K");
            _isDrawn = false;
        }
    }

    /// <summary>Takes the line away for good.</summary>
    public void End()
    {
        _hasEnded = true;
        Clear();
    }

    public void Dispose() => End();

    private string Text()
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

        if (what is not null)
        {
            text.Append($"{Amount.Number(_items.Done)} {what}, {Amount.Number(Math.Round(_items.PerSecond))}/s");
        }

        if (_bytes.Done > 0)
        {
            text.Append(what is null ? Amount.Bytes(_bytes.Done) : string.Empty)
                .Append($", {Amount.Bytes(_bytes.PerSecond)}/s");
        }

        return (_bytes.Left ?? _items.Left) is { } left
            ? text.Append($", {Amount.Time(left)} left").ToString()
            : text.ToString();
    }
}
