import { api, type Scene } from '../api';
import { openScene } from '../files';
import { say } from '../state/screen';
import { useAnswer } from './asked';
import { Dialog } from './Dialog';

function groups(scenes: readonly Scene[]): Map<string, Scene[]> {
  const all = new Map<string, Scene[]>();
  for (const scene of scenes) all.set(scene.group, [...(all.get(scene.group) ?? []), scene]);
  return all;
}

export function GalleryDialog() {
  const { value, problem } = useAnswer(api.gallery);
  return (
    <Dialog title="Gallery" wide>
      {problem && <p className="pin-error">{problem}</p>}
      <div className="gallery">
        {Array.from(groups(value ?? []), ([group, scenes]) => (
          <section key={group}>
            <h3>{group}</h3>
            <div className="scenes">
              {scenes.map((scene) => (
                <button
                  key={scene.id}
                  type="button"
                  className="scene"
                  onClick={() => openScene(scene.id).catch((error: Error) => say(error.message, true))}
                >
                  <span className="scene-title">{scene.title}</span>
                  <span className="scene-text">{scene.text}</span>
                </button>
              ))}
            </div>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
