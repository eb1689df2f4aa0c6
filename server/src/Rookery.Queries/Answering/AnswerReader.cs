using Rookery.Documents.Databases;

namespace Rookery.Queries.Answering;

/// <summary>
/// Reads a database for one answer. All of an answer to a client is of the moment of the first look, however slowly it
/// is taken. When the node has to give that moment up, reading on fails; if the moment is given up while a client is
/// waited for, its connection is aborted. An operation reads the current state after each pause. One thread at a time.
/// </summary>
/// <param name="database">The database.</param>
/// <param name="client">Who takes the answer; null for an operation, which goes on in a later moment after each
/// pause.</param>
public sealed class AnswerReader(Database database, IAnswerSink? client) : IDisposable
{
    private DatabaseReader _reader;
    private CancellationTokenRegistration _breaking;
    private bool _isOpen;
    private bool _isWatched;

    /// <summary>The database.</summary>
    public Database Database => database;

    /// <summary>Whether it goes on in a later moment after each pause.</summary>
    public bool IsRenewed => client is null;

    /// <summary>The reader, until the next pause. Not to be disposed.</summary>
    /// <exception cref="DatabaseGoneException">There is no such database any more, and nothing of it was read yet, or
    /// it is read on in a later moment.</exception>
    /// <exception cref="Rookery.Storage.SnapshotEndedException">The moment had to be given up.</exception>
    public DatabaseReader Current
    {
        get
        {
            if (!_isOpen)
            {
                _reader = database.OpenReader();
                _isOpen = true;
            }

            if (_isWatched)
            {
                // Nobody is waited for any more: an end that comes now is told by a refusal where that can be sent.
                _isWatched = false;
                _breaking.Unregister();
            }

            _reader.ThrowIfEnded();
            return _reader;
        }
    }

    /// <summary>Called before a client or room is waited for, when what was read of it is let go of.</summary>
    public void Pause()
    {
        if (client is null)
        {
            LetGo();
        }
        else if (_isOpen && !_isWatched)
        {
            _isWatched = true;
            _breaking = _reader.Ended.UnsafeRegister(static taken => ((IAnswerSink)taken!).BreakOff(), client);
        }
    }

    /// <summary>Lets go of the moment: the next look is at a later one.</summary>
    public void LetGo()
    {
        if (_isOpen)
        {
            _isOpen = _isWatched = false;
            _breaking.Dispose();
            _reader.Dispose();
        }
    }

    /// <inheritdoc/>
    public void Dispose() => LetGo();
}
