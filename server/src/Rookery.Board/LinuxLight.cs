using System.Text;
using Rookery.Platform;

namespace Rookery.Board;

/// <summary>
/// An LED under /sys/class/leds. This process switches it on and off itself: the kernel's timer trigger is a module
/// that few boards load.
/// </summary>
internal sealed class LinuxLight : IBoardLight
{
    private const string WithoutTrigger = "none";
    private static readonly TimeSpan HalfPeriod = TimeSpan.FromMilliseconds(200);

    // The activity LED is preferred, so that the power LED continues to show the power.
    private static readonly string[] Names = ["ACT", "led0", "PWR", "led1"];

    private readonly IDisk _disk;
    private readonly string _directory;
    private readonly TimeProvider _time;

    private LinuxLight(IDisk disk, string directory, TimeProvider time)
    {
        _disk = disk;
        _directory = directory;
        _time = time;
        Name = Path.GetFileName(directory);
    }

    /// <inheritdoc/>
    public string Name { get; }

    /// <summary>Finds the LED of a board; null if it has none.</summary>
    public static LinuxLight? Find(IDisk disk, string directory, TimeProvider time)
    {
        foreach (string name in Names)
        {
            string light = Path.Join(directory, name);
            if (
                KernelFile.Exists(disk, Path.Join(light, "brightness"))
                && KernelFile.Exists(disk, Path.Join(light, "trigger"))
            )
            {
                return new LinuxLight(disk, light, time);
            }
        }

        return null;
    }

    /// <inheritdoc/>
    public IDisposable? TryBlink(out string? whyNot)
    {
        IDiskFile? trigger = null;
        IDiskFile? brightness = null;
        try
        {
            string before = TriggerIn(ReadAll("trigger"));
            string level = ReadAll("brightness").Trim();
            trigger = _disk.Open(Path.Join(_directory, "trigger"), DiskOpen.ReadWrite);
            brightness = _disk.Open(Path.Join(_directory, "brightness"), DiskOpen.ReadWrite);
            Write(trigger, WithoutTrigger);
            whyNot = null;
            return new Blinking(trigger, brightness, before, level, _time);
        }
        catch (DiskException refused)
        {
            trigger?.Dispose();
            brightness?.Dispose();
            whyNot = refused.Message;
            return null;
        }
    }

    /// <summary>Returns the active trigger, which the kernel lists in brackets: "none mmc0 [default-on]".</summary>
    internal static string TriggerIn(string triggers)
    {
        int begin = triggers.IndexOf('[', StringComparison.Ordinal);
        int end = triggers.IndexOf(']', StringComparison.Ordinal);
        return begin >= 0 && end > begin ? triggers[(begin + 1)..end] : WithoutTrigger;
    }

    // KernelFile is not used, because some kernels list more triggers than it reads.
    private string ReadAll(string name)
    {
        using var file = _disk.Open(Path.Join(_directory, name), DiskOpen.Read);
        byte[] text = new byte[8192];
        return Encoding.UTF8.GetString(text, 0, file.Read(text, 0));
    }

    private static void Write(IDiskFile file, string text) => file.Write(Encoding.ASCII.GetBytes(text), 0);

    private sealed class Blinking : IDisposable
    {
        private readonly IDiskFile _trigger;
        private readonly IDiskFile _brightness;
        private readonly string _triggerBefore;
        private readonly string _levelBefore;
        private readonly Lock _gate = new();
        private readonly ITimer _timer;
        private bool _isOn;
        private bool _hasEnded;

        public Blinking(
            IDiskFile trigger,
            IDiskFile brightness,
            string triggerBefore,
            string levelBefore,
            TimeProvider time
        )
        {
            _trigger = trigger;
            _brightness = brightness;
            _triggerBefore = triggerBefore;
            _levelBefore = levelBefore;
            _timer = time.CreateTimer(
                static blinking => ((Blinking)blinking!).Switch(),
                this,
                TimeSpan.Zero,
                HalfPeriod
            );
        }

        public void Dispose()
        {
            _timer.Dispose();
            lock (_gate)
            {
                if (_hasEnded)
                {
                    return;
                }

                _hasEnded = true;
                using (_trigger)
                using (_brightness)
                {
                    try
                    {
                        // A trigger sets the brightness itself; without a trigger the LED keeps the written one.
                        Write(_brightness, _levelBefore);
                        Write(_trigger, _triggerBefore);
                    }
                    catch (DiskException)
                    {
                        // The LED was removed, or this process may no longer drive it.
                    }
                }
            }
        }

        private void Switch()
        {
            lock (_gate)
            {
                if (_hasEnded)
                {
                    return;
                }

                _isOn = !_isOn;
                try
                {
                    Write(_brightness, _isOn ? "1" : "0");
                }
                catch (DiskException)
                {
                    // Tried again at the next tick.
                }
            }
        }
    }
}
